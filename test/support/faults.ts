import { readFileSync, readdirSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runChild, type ChildOptions, type ChildResult } from "./child.ts";
import { buildProgram } from "./program.ts";
import { removeFolder } from "./remove-folder.ts";
import { createTempFolder } from "./temp.ts";
import { CallNames, type NamedCall } from "./tracer/call-name.ts";
import { type KeepOrder, type TraceOrder, type TraceReport, stoppedFile } from "./tracer/order.ts";

/** A call of the program that changes something in the folders. */
export interface FaultPoint {
  /** Its place among these calls, over all threads and children, from one. */
  readonly at: number;
  /** Name of the system call. */
  readonly call: string;
  /** What it changes; one character a byte. */
  readonly paths: readonly string[];
  /** Whether the program's first thread makes it. */
  readonly mainThread: boolean;
  /** Whether it is an open that may make the file. */
  readonly creates: boolean;
  /** Whether a child of the program makes it, and not the program. */
  readonly inChild: boolean;
  /** The number of the copies that show the disks before the call; only where disks are kept. */
  readonly kept?: number | undefined;
}

/**
 * What happens at a point: the program dies before the call, with its children or without them, or only the child that
 * makes the call; or the call is not done and fails, once or from then on, as on a disk that broke; or it is not done and seems to
 * succeed, which takes a sync out from outside.
 */
export type Fault =
  | {
      readonly signal: "KILL";
      readonly sparesChildren?: boolean;
      readonly sparesProgram?: boolean;
    }
  | { readonly error: keyof typeof constants.errno; readonly lasting?: boolean }
  | { readonly pretends: "success" };

/** A program of the tests that is traced. */
export interface TracedProgram {
  readonly program: string | URL;
  readonly args: readonly string[];
  /** The folders whose calls matter. */
  readonly touching: readonly string[];
  /** Folders among them whose calls do not, as when their number depends on what else the machine does. */
  readonly sparing?: readonly string[];
  readonly options?: Omit<ChildOptions, "wrapper">;
  /** Disks of which copies are kept on the way. */
  readonly keep?: KeepOrder;
}

/** How a run with a fault went. */
export interface FaultedRun extends ChildResult {
  /** Whether the program came as far as the point. */
  readonly fired: boolean;
  /** The calls that the program made up to its end. */
  readonly points: readonly FaultPoint[];
  /** How many copies of disks were kept. */
  readonly copies: number;
  /** The calls that were left out. */
  readonly left: readonly FaultPoint[];
}

type FaultOrder = Pick<TraceOrder, "result" | "lasting" | "sparesChildren" | "sparesProgram">;

const tracer = fileURLToPath(new URL("./tracer/main.ts", import.meta.url));

/** Runs the program undisturbed and lists each call that changes something in the folders. */
export async function faultPoints(traced: TracedProgram): Promise<FaultPoint[]> {
  return [...(await runUndisturbed(traced)).points];
}

/** Runs the program without any fault; throws when it fails. */
export async function runUndisturbed(traced: TracedProgram): Promise<FaultedRun> {
  const run = await runTraced(traced, {});
  if (run.code !== 0) {
    throw new Error(`the program fails without any fault: ${run.code} ${run.stderr}`);
  }
  return run;
}

/** Runs the program with one fault. Callers assert `fired`: a fault that misses proves nothing. */
export function runWithFault(
  traced: TracedProgram,
  point: Pick<FaultPoint, "at">,
  fault: Fault,
): Promise<FaultedRun> {
  return runTraced(traced, { at: point.at, ...resultOf(fault) });
}

/**
 * The same call in a program that did not come as far: it made fewer calls than were listed, so it is counted from the
 * end, where a call that was missed always lies.
 */
export function aimAgain(
  { at }: Pick<FaultPoint, "at">,
  listed: number,
  { points }: Pick<FaultedRun, "points">,
): FaultPoint | undefined {
  return points[Math.max(0, points.length - 1 - (listed - at))];
}

/** The calls of a run with the names by which other runs have them too. */
export function namedPoints(
  points: readonly FaultPoint[],
  folder: string,
): readonly (FaultPoint & NamedCall)[] {
  const names = new CallNames(folder);
  return points.map((point) => ({ ...point, ...names.next(point.call, point.paths) }));
}

/**
 * Runs the program without some of its calls, which seem to succeed. They are known by their names, because calls that
 * threads make side by side come in another order each time. It has fired when each of them was left out.
 */
export async function runWithout(
  traced: TracedProgram,
  calls: readonly NamedCall[],
  folder: string,
): Promise<FaultedRun> {
  const wanted = calls.map(({ name, nth }) => ({ name, nth }));
  const run = await runTraced(traced, { without: { calls: wanted, folder } });
  return { ...run, fired: run.left.length === calls.length };
}

/** A program that stands still in the middle of its work. */
export interface StoppedRun {
  /** Lets it go on. */
  readonly goOn: () => void;
  /** Ends it, unless it has ended. */
  readonly kill: () => void;
  /** How it went in the end. */
  readonly result: Promise<FaultedRun>;
}

/**
 * Runs the program until it has done a call, and stops it there with SIGSTOP; null when it never comes there. With
 * `sparesChildren` the program is killed instead, and its child, which makes the call, is the one that stands still.
 */
export async function runUntil(
  traced: TracedProgram,
  point: Pick<FaultPoint, "at">,
  { sparesChildren = false }: { readonly sparesChildren?: boolean } = {},
): Promise<StoppedRun | null> {
  let report = "";
  const result = runTraced(traced, { at: point.at, stops: true, sparesChildren }, (file) => {
    report = file;
  });
  const end = result.then(() => "ended" as const);
  while ((await Promise.race([end, pause(5)])) !== "ended") {
    const pid = report === "" ? null : stoppedAt(stoppedFile(report));
    if (pid !== null) return stoppedRun(pid, result);
  }
  return null;
}

function stoppedRun(pid: number, result: Promise<FaultedRun>): StoppedRun {
  let hasEnded = false;
  return {
    goOn: () => process.kill(pid, "SIGCONT"),
    kill: () => {
      if (!hasEnded) process.kill(pid, "SIGKILL");
    },
    result: result.finally(() => {
      hasEnded = true;
    }),
  };
}

/** The number of the process, once all of it stands still. */
function stoppedAt(file: string): number | null {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    const threads = readdirSync(`/proc/${pid}/task`);
    const states = threads.map((thread) => {
      const stat = readFileSync(`/proc/${pid}/task/${thread}/stat`, "latin1");
      return stat.slice(stat.lastIndexOf(")") + 2)[0];
    });
    return pid > 0 && states.every((state) => state === "t" || state === "T") ? pid : null;
  } catch {
    return null;
  }
}

function resultOf(fault: Fault): FaultOrder {
  if ("signal" in fault) {
    const { sparesChildren = false, sparesProgram = false } = fault;
    return { sparesChildren, sparesProgram };
  }
  if ("pretends" in fault) return { result: 0 };
  return { result: -constants.errno[fault.error], lasting: fault.lasting === true };
}

async function runTraced(
  traced: TracedProgram,
  fault: FaultOrder & Pick<TraceOrder, "at" | "without" | "stops">,
  onStart: (report: string) => void = () => undefined,
): Promise<FaultedRun> {
  const folder = createTempFolder({ mode: traced.options?.uid === undefined ? 0o700 : 0o777 });
  try {
    const order: TraceOrder = {
      report: join(folder, "report"),
      touching: traced.touching,
      ...(traced.sparing !== undefined && { sparing: traced.sparing }),
      ...(traced.keep !== undefined && { keep: traced.keep }),
      ...fault,
    };
    onStart(order.report);
    const node = process.env["COFFERDAM_TEST_NODE"] ?? process.execPath;
    const result = await runChild(traced.program, traced.args, {
      ...traced.options,
      wrapper: [node, await buildProgram(tracer), JSON.stringify(order)],
    });
    const { fired, copies = 0, ...report } = readReport(order.report, result);
    const points = report.points.map((point, at) => ({ at: at + 1, ...point }));
    const left = points.filter(({ at }) => report.left.includes(at));
    return { ...result, fired, copies, points, left };
  } finally {
    removeFolder(folder);
  }
}

function readReport(path: string, result: ChildResult): TraceReport {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as TraceReport;
  } catch (error) {
    throw new Error(`the tracer failed: ${result.stderr}`, { cause: error });
  }
}
