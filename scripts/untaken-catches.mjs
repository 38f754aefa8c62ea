// The ways back that no test took: `catch` blocks none of whose lines ran.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDERS = /^src\/(?:tree|journal|manager|strategies)\//;

/** Reads a report in the form of lcov; gives `file:line` of each block that was never entered. */
export function untakenCatches(root, lcov) {
  return [...countsByFile(lcov)]
    .filter(([file]) => FOLDERS.test(file))
    .flatMap(([file, counts]) => {
      const lines = readFileSync(join(root, file), "utf8").split("\n");
      return lines.flatMap((line, index) =>
        /\} catch\b/.test(line) && !isEntered(lines, index, counts) ? [`${file}:${index + 1}`] : [],
      );
    });
}

function countsByFile(lcov) {
  const files = new Map();
  let counts = new Map();
  for (const line of lcov.split("\n")) {
    const [kind, ...rest] = line.split(":");
    const value = rest.join(":");
    if (kind === "SF") {
      counts = new Map();
      files.set(value.slice(value.indexOf("src/")), counts);
    } else if (kind === "DA") {
      const [number, count] = value.split(",").map(Number);
      counts.set(number, count);
    }
  }
  return files;
}

/** A block without a statement has nothing to run, and counts as entered. */
function isEntered(lines, start, counts) {
  const indent = indentOf(lines[start]);
  const body = [];
  for (let index = start + 1; index < lines.length; index++) {
    if (lines[index].trim() !== "" && indentOf(lines[index]) <= indent) break;
    const count = counts.get(index + 1);
    if (count !== undefined) body.push(count);
  }
  return body.length === 0 || body.some((count) => count > 0);
}

function indentOf(line) {
  return line.length - line.trimStart().length;
}
