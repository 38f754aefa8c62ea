// Usage: check-changelog.mjs FILE — one short line for each change, in the usual sections.
import { readFileSync } from "node:fs";

const LONGEST = 120;
const SECTIONS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
const VERSION = /^## (\[Unreleased\]|\d+\.\d+\.\d+ - \d{4}-\d{2}-\d{2})$/;

const [file] = process.argv.slice(2);
const lines = readFileSync(file, "utf8").split("\n");
const problems = [];
let version;
let section;
const seen = new Set();

lines.forEach((line, at) => {
  const problem = judge(line, at);
  if (problem !== undefined) problems.push(`${file}:${at + 1}: ${problem}`);
});
if (version === undefined) problems.push(`${file}: no version`);
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

function judge(line, at) {
  if (at === 0) return line === "# Changelog" ? undefined : 'begins with "# Changelog"';
  if (line === "") return undefined;
  if (line.startsWith("## ")) {
    version = line;
    section = undefined;
    if (seen.has(line)) return "this version stands here twice";
    seen.add(line);
    return VERSION.test(line) ? undefined : 'a version is "[Unreleased]" or "1.2.3 - 2026-01-31"';
  }
  if (line.startsWith("### ")) {
    section = line.slice("### ".length);
    if (version === undefined) return "a section belongs to a version";
    if (seen.has(version + line)) return "this section stands here twice";
    seen.add(version + line);
    return SECTIONS.includes(section) ? undefined : `a section is one of ${SECTIONS.join(", ")}`;
  }
  if (version === undefined) return undefined;
  if (section === undefined) return "a change belongs to a section";
  if (!line.startsWith("- ")) return 'a change is one line that begins with "- "';
  if (line.length > LONGEST) return `a change has at most ${LONGEST} characters`;
  if (!/^- [\p{Lu}`].*\.$/u.test(line))
    return "a change is a sentence: a capital first, a full stop last";
  if (seen.has(version + line)) return "this change stands here twice";
  seen.add(version + line);
  return undefined;
}
