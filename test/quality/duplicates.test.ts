import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { checkout } from "./sample-project.ts";

const LINES = ["one", "two", "three", "four", "five", "six"].map((name) => `call("${name}");`);

function check(folder: string): { status: number | null; stderr: string } {
  const script = join(checkout, "scripts/check-duplicates.mjs");
  return spawnSync(process.execPath, [script, folder], { encoding: "utf8" });
}

/** Two strategies, each with one file. */
function written(one: readonly string[], other: readonly string[]): string {
  const folder = tempFolder();
  for (const [name, lines] of Object.entries({ one, other })) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "strategy.ts"), lines.join("\n"));
  }
  return folder;
}

it("finds nothing that two files of the strategies have in common (R24)", () => {
  expect(check(join(checkout, "src/strategies"))).toMatchObject({ status: 0, stderr: "" });
});

it("finds six lines that stand in two strategies, however they are indented (R24)", () => {
  const folder = written(
    ["start();", ...LINES],
    LINES.map((line) => `  ${line}\n`),
  );
  expect(check(folder)).toMatchObject({
    status: 1,
    stderr: "one/strategy.ts:2 has the same lines as other/strategy.ts:1\n",
  });
});

it("lets two strategies import the same and share fewer lines (R24)", () => {
  const imports = ["import {", ...LINES.map((_, at) => `  name${at},`), '} from "./shared.ts";'];
  const comment = ["/**", ...LINES.map((line) => ` * ${line}`), " */"];
  const lines = [...imports, ...comment, ...LINES.slice(1)];
  expect(check(written(lines, lines)).status).toBe(0);
});
