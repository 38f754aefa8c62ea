import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";

const script = new URL("../../scripts/untaken-catches.mjs", import.meta.url).href;

const SOURCE = `export function read(open) {
  try {
    return open();
  } catch (error) {
    // Why.
    if (error.code === "ENOENT") return null;
    throw error;
  }
}

export function ignore(work) {
  try {
    work();
  } catch {
    // Nothing to do.
  }
}
`;

function untaken(folder: string, count: number): unknown {
  const root = tempFolder();
  mkdirSync(join(root, folder), { recursive: true });
  writeFileSync(join(root, folder, "file.ts"), SOURCE);
  const counts = ["DA:3,5", `DA:6,${count}`, "DA:7,0", "DA:13,1"];
  const lcov = [`SF:${folder}/file.ts`, ...counts, "end_of_record"].join("\n");
  const ask = `import { untakenCatches } from ${JSON.stringify(script)};
    console.log(JSON.stringify(untakenCatches(...${JSON.stringify([root, lcov])})));`;
  const args = ["--input-type=module", "--eval", ask];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

test("names a way back that no test took, and no other (R262)", () => {
  expect(untaken("src/tree/scan", 0)).toEqual(["src/tree/scan/file.ts:4"]);
  expect(untaken("src/tree/scan", 2)).toEqual([]);
  expect(untaken("src/cli", 0)).toEqual([]);
});
