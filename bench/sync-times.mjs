import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const intervals = [];
const original = fs.fsync;

/** From here on every sync of this process is noted; before the modules that sync are loaded. */
export function noteSyncs() {
  fs.fsync = (descriptor, callback) => {
    const interval = { start: performance.now(), end: Infinity };
    intervals.push(interval);
    original(descriptor, (error) => {
      interval.end = performance.now();
      callback(error);
    });
  };
  syncBuiltinESMExports();
}

/** What the syncs of some work were: how many, how many of them one after the other, and the time with one under way. */
export async function syncsOf(work) {
  intervals.length = 0;
  await work();
  let [ordered, waited, until] = [0, 0, 0];
  for (const { start, end } of intervals.toSorted((a, b) => a.start - b.start)) {
    if (start >= until) ordered += 1;
    waited += Math.max(0, end - Math.max(start, until));
    until = Math.max(until, end);
  }
  return { count: intervals.length, ordered, waited };
}
