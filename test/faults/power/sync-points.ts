import type { FaultPoint } from "../../support/faults.ts";
import type { NamedCall } from "../../support/tracer/call-name.ts";
import { OTHER_DEVICE } from "../ground.ts";
import { type PowerBench, tryMoment } from "./define-power.ts";
import { type Moment, type PoweredRun, type Writing, runPowered } from "./lose-power.ts";

const SYNCS = ["fsync", "fdatasync", "syncfs"];
const ATTEMPTS = 4;
/** How many later syncs are looked past when everything of the other disk is written. */
const WINDOW = 2;

/** Whether a call makes something durable. */
export function isSync({ call }: FaultPoint): boolean {
  return SYNCS.includes(call);
}

/** The syncs of an operation, in their order. */
export async function syncPointsOf(bench: PowerBench): Promise<NamedCall[]> {
  const { disks, shape, base, template } = bench;
  const run = await runPowered(disks, base, shape, template, { writing: "only what is synced" });
  run.drop();
  return run.points.filter(isSync);
}

/** How the disk without the syncs may fare: nothing but syncs helps it, and the other disk may be ahead of it. */
export function harshest(syncs: readonly NamedCall[]): readonly [Writing, Writing] {
  const isSecond = syncs.every(({ name }) => name.includes(`/${OTHER_DEVICE}`));
  const other = isSecond ? "all of the first disk" : "all of the second disk";
  return ["only what is synced", other];
}

/** Syncs of one kind: what somebody would lose who forgot them in one place of the code. */
export function kindOf({ name }: NamedCall): string {
  if (name.startsWith("syncfs")) return "syncs of a whole file system";
  const isFile = /\.(tmp|part)$/.test(name);
  if (name.includes("/state/plans/"))
    return isFile ? "syncs of sandbox records" : "syncs of the folders of sandbox records";
  if (/\/state\/(tx|done)/.test(name)) {
    return isFile ? "syncs of transaction records" : "syncs of the folders of transactions";
  }
  if (name.includes("/sandboxes/"))
    return isFile ? "syncs of records in the stage" : "syncs of stage folders";
  return "syncs of real folders";
}

/**
 * Leaves syncs out and lets the power fail at each moment after the first, until something is wrong: gives what. Null
 * when nothing is, undefined when one of the calls was never met.
 */
export async function leaveOut(
  bench: PowerBench,
  syncs: readonly NamedCall[],
  writing: Writing,
): Promise<string | null | undefined> {
  const run = await runIncomplete(bench, syncs, writing);
  const [first] = run?.left ?? [];
  if (run === null || first === undefined) return undefined;
  try {
    for (const moment of momentsAfter(run, first, writing)) {
      const found = await tryMoment(bench, moment);
      if ("violation" in found) return found.violation;
    }
    return null;
  } finally {
    run.drop();
  }
}

async function runIncomplete(
  { disks, shape, base, template }: PowerBench,
  without: readonly NamedCall[],
  writing: Writing,
): Promise<PoweredRun | null> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const run = await runPowered(disks, base, shape, template, { without, writing });
    if (run.fired) return run;
    run.drop();
  }
  return null;
}

/**
 * The moments after a call. Where all of one disk is written every call makes a moment: there those up to a few syncs
 * later are enough, and the end.
 */
function momentsAfter(run: PoweredRun, { at }: FaultPoint, writing: Writing): readonly Moment[] {
  const later = run.moments.filter(
    ({ points, told }) => told !== null || points.some((point) => point.at > at),
  );
  if (writing === "only what is synced") return later;
  const syncs = run.points.filter((point) => point.at > at && isSync(point));
  const until = syncs[WINDOW]?.at ?? Infinity;
  return later.filter(
    ({ points, told }) => told !== null || points.some((point) => point.at <= until),
  );
}
