import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** Puts results into a list in a JSON file; one of the same thing that is already there is replaced. */
export function addResults(file, results) {
  const date = new Date().toISOString().slice(0, 10);
  const known = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  const list = new Map(known.map((result) => [keyOf(result), result]));
  for (const result of results) list.set(keyOf(result), { ...result, date });
  const sorted = [...list].toSorted(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(
    file,
    `${JSON.stringify(
      sorted.map(([, result]) => result),
      null,
      2,
    )}\n`,
  );
}

function keyOf({ suite, shape, faults, shard = "1/1" }) {
  return [suite, shape, faults, shard].join("\n");
}
