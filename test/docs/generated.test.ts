import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { checkout } from "./markdown.ts";

/** Texts of the docs, and something else in their place. */
const FALSIFIED = [
  ["docs/concepts.md", "  COMMITTED --> ACTIVE: undoCommit\n", ""],
  ["docs/concepts.md", "<!-- generated: transitions -->", ""],
  ["docs/strategies.md", "`copy_on_write`", "`copy_on_wrong`"],
  ["docs/errors.md", "### PlanBusyError", "### BusyPlanError"],
  ["docs/errors.md", "`foreignEdits`", "`alienEdits`"],
  ["docs/errors.md", "`RECORD_DAMAGED`", "`RECORD_BROKEN`"],
] as const;

function check(...folders: readonly string[]): { code: number | null; problems: string[] } {
  const args = [join(checkout, "scripts/generate-docs.mjs"), "--check", ...folders];
  const done = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { code: done.status, problems: done.stderr.split("\n").filter((line) => line !== "") };
}

/** A copy of the docs in which one text is replaced wherever it stands. */
function falsify([page, old, replacement]: (typeof FALSIFIED)[number]): string {
  const folder = tempFolder();
  cpSync(join(checkout, "docs"), join(folder, "docs"), { recursive: true });
  cpSync(join(checkout, "README.md"), join(folder, "README.md"));
  const file = join(folder, page);
  const text = readFileSync(file, "utf8");
  expect(text).toContain(old);
  writeFileSync(file, text.replaceAll(old, replacement));
  return folder;
}

test(
  "diagram, tables, strategy names and error list in the docs are what the code generates (R255, R106)",
  { timeout: 240_000 },
  () => {
    expect(check()).toEqual({ code: 0, problems: [] });
  },
);

test(
  "the check finds every arrow, strategy name, error and reason that is wrong in the docs (R255)",
  { timeout: 240_000 },
  () => {
    const folders = FALSIFIED.map(falsify);
    const { code, problems } = check(...folders);
    expect(code).toBe(1);
    const found = folders.map((folder) => problems.some((problem) => problem.startsWith(folder)));
    expect(found).toEqual(FALSIFIED.map(() => true));
  },
);
