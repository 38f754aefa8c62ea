import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { format, resolveConfig } from "prettier";

/** Puts results into a list in a JSON file; one of the same thing that is already there is replaced. */
export async function addResults(file, results) {
  const date = new Date().toISOString().slice(0, 10);
  const commit = presentCommit();
  const known = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  const list = new Map(known.map((result) => [keyOf(result), result]));
  for (const result of results) {
    // A whole run stands for all parts that were run before.
    if (result.shard === undefined && result.tried === result.enumerated)
      for (const key of list.keys()) if (key.startsWith(thingOf(result))) list.delete(key);
    list.set(keyOf(result), { ...result, commit, date });
  }
  const sorted = [...list].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const text = JSON.stringify(sorted.map(([, result]) => result));
  writeFileSync(file, await format(text, { ...(await resolveConfig(file)), parser: "json" }));
}

function keyOf(result) {
  return `${thingOf(result)}${result.shard ?? "1/1"}`;
}

function thingOf({ suite, shape, faults }) {
  return [suite, shape, faults, ""].join("\n");
}

/** What is checked out, and whether it was edited. */
function presentCommit() {
  const cwd = new URL(".", import.meta.url);
  return execFileSync("git", ["describe", "--always", "--dirty"], { cwd, encoding: "utf8" }).trim();
}
