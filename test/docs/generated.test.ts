import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { checkout } from "./markdown.ts";

function check(folder = checkout): { code: number | null; problems: string[] } {
  const args = [join(checkout, "scripts/generate-docs.mjs"), "--check", folder];
  const done = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { code: done.status, problems: done.stderr.split("\n").filter((line) => line !== "") };
}

/** The check of a copy of the docs in which one text was replaced. */
function checkWith(page: string, old: string, replacement: string): ReturnType<typeof check> {
  const folder = tempFolder();
  cpSync(join(checkout, "docs"), join(folder, "docs"), { recursive: true });
  cpSync(join(checkout, "README.md"), join(folder, "README.md"));
  const file = join(folder, page);
  const text = readFileSync(file, "utf8");
  expect(text).toContain(old);
  writeFileSync(file, text.replace(old, replacement));
  return check(folder);
}

test("diagram, tables, strategy names and error list in the docs are what the code generates (R255, R106)", () => {
  expect(check()).toEqual({ code: 0, problems: [] });
});

test.for([
  ["an arrow of the diagram", "docs/concepts.md", "  COMMITTED --> ACTIVE: undoCommit\n", ""],
  ["a strategy in the matrix", "docs/strategies.md", "`copy_on_write`", "`copy_on_wrong`"],
  ["the section of an error", "docs/errors.md", "### PlanBusyError", "### BusyPlanError"],
  ["a reason of an error", "docs/errors.md", "`foreignEdits`", "`alienEdits`"],
  ["a whole generated part", "docs/concepts.md", "<!-- generated: transitions -->", ""],
] as const)("the check fails when the docs lack %s (R255)", ([, page, old, replacement]) => {
  expect(checkWith(page, old, replacement)).toMatchObject({ code: 1 });
});
