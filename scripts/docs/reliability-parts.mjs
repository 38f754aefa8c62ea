import { readFileSync } from "node:fs";
import { join } from "node:path";
import { table } from "./markdown-table.mjs";

const NOTHING = "No run is recorded.";
const LEFT_OUT = / left out(, by the order of calls)?$/;

/** The parts of docs/reliability.md, made from the results that the suites recorded. */
export function reliabilityParts(root) {
  const recorded = JSON.parse(readFileSync(join(root, "docs/reliability.json"), "utf8"));
  const results = addShards(recorded);
  const of = (suite) => results.filter((result) => result.suite === suite);
  const power = of("power").filter(({ faults }) => !LEFT_OUT.test(faults));
  const syncs = of("power").filter(({ faults }) => LEFT_OUT.test(faults));
  return {
    "crash results": disturbances(of("crash")),
    "errno results": disturbances(of("errno")),
    "power results": disturbances(power),
    "sync results": syncTable(syncs),
    "race results": rounds(of("race"), "rounds"),
    "soak results": rounds(of("soak"), "plans"),
  };
}

/** One result for each thing, whatever parts it was run in. */
function addShards(recorded) {
  const whole = new Map();
  for (const result of recorded) {
    const key = [result.suite, result.shape, result.faults].join("\n");
    const known = whole.get(key);
    whole.set(key, known === undefined ? result : sumOf(known, result));
  }
  return [...whole.values()];
}

function sumOf(a, b) {
  const summed = ["tried", "fired", "old", "new", "violations", "seconds"];
  const sums = Object.fromEntries(summed.map((field) => [field, a[field] + b[field]]));
  const date = a.date > b.date ? a.date : b.date;
  return { ...a, ...sums, date, remarks: [...(a.remarks ?? []), ...(b.remarks ?? [])] };
}

function disturbances(results) {
  if (results.length === 0) return NOTHING;
  const head = ["what", "fault", "points", "fired", "all old", "all new", "violations", "seconds"];
  return table(
    [...head, "on"],
    [...results, ...totalOf(results)].map((result) => [
      result.shape,
      result.faults,
      howMany(result),
      result.fired,
      result.old,
      result.new,
      result.violations,
      result.seconds,
      result.date,
    ]),
  );
}

function totalOf(results) {
  if (results.length < 2) return [];
  const total = results.reduce(sumOf);
  const enumerated = results.reduce((sum, result) => sum + result.enumerated, 0);
  return [{ ...total, enumerated, shape: "together", faults: "" }];
}

function rounds(results, unit) {
  if (results.length === 0) return NOTHING;
  return table(
    ["what", unit, "violations", "seconds", "on", "remarks"],
    results.map((result) => [
      result.shape,
      howMany(result),
      result.violations,
      result.seconds,
      result.date,
      (result.remarks ?? []).join("; "),
    ]),
  );
}

/** Every sync once, with how often it occurs and whether leaving it out is noticed. */
function syncTable(results) {
  if (results.length === 0) return NOTHING;
  const rows = new Map();
  for (const { shape, faults, remarks = [] } of results) {
    for (const remark of remarks) {
      const at = remark.lastIndexOf(": ");
      const key = [shape, faults, remark.slice(0, at), remark.slice(at + 2)].join("\n");
      rows.set(key, (rows.get(key) ?? 0) + 1);
    }
  }
  const counted = [...rows].map(([key, count]) => [...key.split("\n"), count]);
  const head = ["operation", "what is left out", "of", "noticed", "not noticed", "seconds", "on"];
  return [
    table(
      head,
      results.map((result) => [
        result.shape,
        result.faults,
        howMany(result),
        result.new,
        result.old,
        result.seconds,
        result.date,
      ]),
    ),
    "",
    table(
      ["operation", "way", "sync", "verdict", "calls"],
      counted.map(([shape, way, sync, verdict, count]) => {
        return [shape, way, `\`${sync}\``, verdict, count];
      }),
    ),
  ].join("\n");
}

function howMany({ tried, enumerated }) {
  return tried === enumerated ? tried : `${tried} of ${enumerated}`;
}
