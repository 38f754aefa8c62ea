import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { expect, it } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { checkout } from "./sample-project.ts";

const SOURCE = `
export function sign(value: number): string {
  if (value < 0) {
    const text = "negative";
    return text;
  }
  return "positive";
}
`;

/** The same on one line, of which a part may not run. */
const ONE_LINE = `
export const sign = (value: number): string => (value < 0 ? "negative" : "positive");
`;

/** Counts the coverage of a project with one module, which only a child of its test uses. */
function coverage(calls: string, source = SOURCE): { code: number | null; output: string } {
  const folder = tempFolder({ mode: 0o755 });
  for (const name of ["scripts", "scripts/faults", "src", "build", "dist"]) {
    mkdirSync(join(folder, name));
  }
  for (const name of ["coverage.mjs", "untaken-catches.mjs", "faults/sweeping.json"]) {
    copyFileSync(join(checkout, "scripts", name), join(folder, "scripts", name));
  }
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  const built = transformSync(source, {
    loader: "ts",
    sourcemap: true,
    sourcefile: "../src/sign.ts",
  });
  writeFileSync(join(folder, "src/sign.ts"), source);
  for (const place of ["build", "dist"]) {
    writeFileSync(
      join(folder, place, "sign.js"),
      `${built.code}//# sourceMappingURL=sign.js.map\n`,
    );
    writeFileSync(join(folder, place, "sign.js.map"), built.map);
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }));
  writeFileSync(
    join(folder, "child.mjs"),
    `import { sign } from "./dist/sign.js"; console.log([${calls}].map(sign).join());`,
  );
  writeFileSync(
    join(folder, "sample.test.mjs"),
    `import { execFileSync } from "node:child_process";
     import { expect, it } from "vitest";
     it("starts a child", () => {
       expect(execFileSync(process.execPath, ["child.mjs"], { encoding: "utf8" })).toMatch(/positive/);
     });`,
  );
  const done = spawnSync(process.execPath, ["scripts/coverage.mjs", "sample.test.mjs"], {
    cwd: folder,
    encoding: "utf8",
    env: { ...process.env, NODE_V8_COVERAGE: undefined, NO_COLOR: "1" },
  });
  return { code: done.status, output: done.stdout + done.stderr };
}

it("passes when children run every line and branch, and fails below the thresholds (R272)", () => {
  const whole = coverage("1, -1");
  expect(whole.output).toContain("lines: 100 percent, at least 97");
  expect(whole.output).toContain("branches: 100 percent, at least 90");
  expect(whole.code).toBe(0);
  const part = coverage("1");
  expect(part.output).toMatch(/lines: [1-9]\d?(?:\.\d+)? percent, at least 97/);
  expect(part.code).toBe(1);
});

it("fails when every line ran but too few branches did (R272)", () => {
  const { code, output } = coverage("1", ONE_LINE);
  expect(output).toContain("lines: 100 percent, at least 97");
  expect(output).toContain("branches: 50 percent, at least 90");
  expect(code).toBe(1);
});

it("fails when a test fails, whatever was covered", () => {
  const { code, output } = coverage("-1, -2");
  expect(output).toContain("1 failed");
  expect(code).toBe(1);
});
