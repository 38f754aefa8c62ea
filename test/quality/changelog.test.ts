import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { checkout } from "./sample-project.ts";

function check(file: string): number | null {
  const script = join(checkout, "scripts/check-changelog.mjs");
  return spawnSync(process.execPath, [script, file]).status;
}

function written(text: string): string {
  const file = join(tempFolder(), "CHANGELOG.md");
  writeFileSync(file, text);
  return file;
}

const HEAD = "# Changelog\n\n## [Unreleased]\n\n### Added\n\n";

it("passes for the change log of this project (R258)", () => {
  expect(check(join(checkout, "CHANGELOG.md"))).toBe(0);
});

it("accepts one sentence for each change (R258)", () => {
  const text = `${HEAD}- One thing.\n- \`coffer\` another.\n\n## 0.1.0 - 2026-01-31\n\n### Fixed\n\n- A fault.\n`;
  expect(check(written(text))).toBe(0);
});

const wrong = [
  ["no head line", "## [Unreleased]\n"],
  ["no version", "# Changelog\n"],
  ["an odd version", "# Changelog\n\n## Version 1\n"],
  ["an unknown section", "# Changelog\n\n## [Unreleased]\n\n### Stuff\n\n- One.\n"],
  ["a change without a section", "# Changelog\n\n## [Unreleased]\n\n- One.\n"],
  ["an entry of two lines", `${HEAD}- One thing\n  and more.\n`],
  ["an entry without a full stop", `${HEAD}- One thing\n`],
  ["an entry that is too long", `${HEAD}- ${"Long ".repeat(30)}.\n`],
  ["the same entry twice", `${HEAD}- One.\n- One.\n`],
] as const;

it.for(wrong)("refuses %s (R258)", ([, text]) => {
  expect(check(written(text))).toBe(1);
});
