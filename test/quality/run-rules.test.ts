import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { checkout, runTool } from "./sample-project.ts";

/** Runs one test file under the global rules of this project, in a run of its own. */
function runTests(text: string, ...args: string[]): { code: number | null; output: string } {
  const folder = tempFolder({ mode: 0o755 });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  const config = {
    root: folder,
    test: {
      include: ["*.test.mjs"],
      expect: { requireAssertions: true },
      globalSetup: [join(checkout, "test/setup/run-folder.ts")],
      reporters: ["default", join(checkout, "test/setup/no-skipped-tests.ts")],
    },
  };
  writeFileSync(join(folder, "vitest.config.mjs"), `export default ${JSON.stringify(config)};`);
  const imports = `
    import { spawn, spawnSync } from "node:child_process";
    import { mkdirSync, writeFileSync } from "node:fs";
    import { tmpdir } from "node:os";
    import { join } from "node:path";
    import { expect, it } from "vitest";
    const folder = join(tmpdir(), "made");
  `;
  writeFileSync(join(folder, "sample.test.mjs"), imports + text);
  return runTool(folder, "vitest", ["run", ...args]);
}

const FINE = 'it("is fine", () => { expect(1).toBe(1); });\n';

describe("the check after a run", () => {
  it("passes when nothing is left (R267)", () => {
    expect(runTests(FINE)).toMatchObject({ code: 0 });
  });

  const remains = [
    ["a file", "mkdirSync(folder);", "file"],
    ["a mount", 'mkdirSync(folder); spawnSync("mount", ["-t", "tmpfs", "none", folder]);', "mount"],
    [
      "a loop device",
      `writeFileSync(folder, Buffer.alloc(1024 ** 2)); spawnSync("losetup", ["-f", folder]);
       spawnSync("rm", [folder]);`,
      "loop device",
    ],
    [
      "a process",
      'spawn("sleep", ["1000"], { detached: true, stdio: "ignore" }).unref();',
      "process",
    ],
  ] as const;

  it.for(remains)("fails when %s is left, and takes it away (R267)", ([, leave, kind]) => {
    const { code, output } = runTests(
      `${FINE}it("leaves it", () => { ${leave} expect(1).toBe(1); });`,
    );
    expect(code).toBe(1);
    expect(output).toMatch(new RegExp(`left behind:\\n  ${kind} `));
  });
});

describe("a run", () => {
  const skipped = [
    ["skipped", 'it.skip("is skipped", () => {});'],
    ["still to be written", 'it.todo("is to be written");'],
    ["skipped while it runs", 'it("skips itself", (context) => { context.skip(); });'],
    ["left out by its precondition", 'it.skipIf(true)("is left out", () => {});'],
  ] as const;

  it.for(skipped)("fails when a test is %s (R266)", ([, text]) => {
    const { code, output } = runTests(FINE + text);
    expect(code).toBe(1);
    expect(output).toContain("1 tests did not run");
  });

  it("fails when a test checks nothing (R266)", () => {
    expect(runTests('it("checks nothing", () => {});')).toMatchObject({ code: 1 });
  });

  it("fails when there is no test at all (R266)", () => {
    expect(runTests("")).toMatchObject({ code: 1 });
  });

  it("may be narrowed to one test by its name", () => {
    const two = `${FINE}it("is another", () => { expect(1).toBe(1); });\n`;
    expect(runTests(two, "-t", "is fine")).toMatchObject({ code: 0 });
  });
});
