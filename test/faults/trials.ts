import type { Fault, FaultPoint } from "../support/faults.ts";
import { type FaultSettings, type SuiteName, createRandom } from "./settings.ts";

/** One disturbance. */
export interface Trial {
  readonly point: FaultPoint;
  readonly fault: Fault;
}

/** The least that a sample takes of one shape. */
const LEAST = 3;
/** Calls that change nothing: to die there is to die at the next one. */
const LOOKING = ["openat2", "flock"];
const DEFAULT_ERROR: Fault = { error: "EIO" };

/** A fault in words. */
export function describeFault(fault: Fault): string {
  if (isOfChild(fault)) return "a child of it is killed";
  if ("signal" in fault) return sparesChildren(fault) ? "killed without its children" : "killed";
  if ("pretends" in fault) return "not done";
  return `${fault.error}${isLasting(fault) ? " from then on" : ""}`;
}

/** The suite that a fault belongs to. */
export function suiteOf(fault: Fault): SuiteName {
  return "signal" in fault ? "crash" : "errno";
}

/** Whether everything fails from the point on. */
export function isLasting(fault: Fault): boolean {
  return "error" in fault && fault.lasting === true;
}

/** Every fault at every point. */
export function trialsOf(points: readonly FaultPoint[], faults: readonly Fault[]): Trial[] {
  return faults.flatMap((fault) => points.map((point) => ({ point, fault }))).filter(isUseful);
}

/** Those that belong to the shard. */
export function shardOf<T>(all: readonly T[], { shard }: Pick<FaultSettings, "shard">): T[] {
  return all.filter((_, at) => at % shard.of === shard.part - 1);
}

/** A tenth of the points, or at most so many, each with one of the faults. */
export function sampleOf(
  points: readonly FaultPoint[],
  faults: readonly Fault[],
  { seed }: FaultSettings,
  name: string,
  most?: number,
): Trial[] {
  const salt = [...name].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) >>> 0, 7);
  const random = createRandom(seed ^ salt);
  const trials = points.map((point) => {
    const fault = faults[Math.floor(random() * faults.length)] ?? { signal: "KILL" };
    return { point, fault: isUseful({ point, fault }) ? fault : DEFAULT_ERROR, rank: random() };
  });
  const wanted = most ?? Math.max(LEAST, Math.ceil(points.length / 10));
  return trials.toSorted((a, b) => a.rank - b.rank).slice(0, wanted);
}

/** Whether only the program itself dies. */
function sparesChildren(fault: Fault): boolean {
  return "signal" in fault && fault.sparesChildren === true;
}

/** Whether only a child of the program dies. */
function isOfChild(fault: Fault): boolean {
  return "signal" in fault && fault.sparesProgram === true;
}

function isUseful({ point, fault }: Trial): boolean {
  // Where the program itself is at work, no child is.
  if ((sparesChildren(fault) || isOfChild(fault)) && !point.inChild) return false;
  return !("signal" in fault && LOOKING.includes(point.call));
}
