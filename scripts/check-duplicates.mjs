// Strategies only say how a workspace is made; what they share exists once. No two files below the
// given folder have six lines in a row in common. Imports, comments and lone punctuation do not count.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";

const RUN = 6;
const folder = process.argv[2] ?? "src/strategies";
const places = new Map();
const found = new Set();

for (const path of filesBelow(folder)) {
  const lines = linesOf(readFileSync(path, "utf8"));
  for (let at = 0; at + RUN <= lines.length; at++) {
    const text = lines
      .slice(at, at + RUN)
      .map((line) => line.text)
      .join("\n");
    const first = places.get(text) ?? { path, line: lines[at].number };
    places.set(text, first);
    if (first.path !== path) report(first, { path, line: lines[at].number });
  }
}
for (const line of found) console.error(line);
process.exit(found.size > 0 ? 1 : 0);

function filesBelow(below) {
  const names = readdirSync(below, { recursive: true }).filter((name) => name.endsWith(".ts"));
  const sorted = names.toSorted((a, b) => (a < b ? -1 : 1));
  return sorted.map((name) => join(below, name));
}

function linesOf(source) {
  const code = source.replaceAll(/^(?:import|export)\s[^;]*?\sfrom\s"[^"]*";$/gm, blank);
  return code
    .replaceAll(/\/\*.*?\*\//gs, blank)
    .split("\n")
    .map((line, at) => ({ number: at + 1, text: line.replace(/^\s*\/\/.*/, "").trim() }))
    .filter(({ text }) => /\w/.test(text));
}

function blank(text) {
  return text.replaceAll(/[^\n]/g, "");
}

function report(one, other) {
  const shown = [one, other].map(({ path, line }) => `${relative(folder, path)}:${line}`);
  found.add(shown.join(" has the same lines as "));
}
