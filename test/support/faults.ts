import { readFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runChild, type ChildOptions, type ChildResult } from "./child.ts";
import { buildProgram } from "./program.ts";
import { removeFolder } from "./remove-folder.ts";
import { createTempFolder } from "./temp.ts";
import type { TraceOrder, TraceReport } from "./tracer/order.ts";

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
}

/**
 * What happens at a point: the program dies before the call, with its children; or the call is not
 * done and fails, once or from then on, as on a disk that broke; or it is not done and seems to
 * succeed, which takes a sync out from outside.
 */
export type Fault =
  | { readonly signal: "KILL" }
  | { readonly error: keyof typeof constants.errno; readonly lasting?: boolean }
  | { readonly pretends: "success" };

/** A program of the tests that is traced. */
export interface TracedProgram {
  readonly program: string | URL;
  readonly args: readonly string[];
  /** The folders whose calls matter. */
  readonly touching: readonly string[];
  readonly options?: Omit<ChildOptions, "wrapper">;
}

/** How a run with a fault went. */
export interface FaultedRun extends ChildResult {
  /** Whether the program came as far as the point. */
  readonly fired: boolean;
  /** The calls that the program made up to its end. */
  readonly points: readonly FaultPoint[];
}

const tracer = fileURLToPath(new URL("./tracer/main.ts", import.meta.url));

/** Runs the program undisturbed and lists each call that changes something in the folders. */
export async function faultPoints(traced: TracedProgram): Promise<FaultPoint[]> {
  const run = await runTraced(traced, {});
  if (run.code !== 0) {
    throw new Error(`the program fails without any fault: ${run.code} ${run.stderr}`);
  }
  return [...run.points];
}

/** Runs the program with one fault. Callers assert `fired`: a fault that misses proves nothing. */
export function runWithFault(
  traced: TracedProgram,
  point: Pick<FaultPoint, "at">,
  fault: Fault,
): Promise<FaultedRun> {
  return runTraced(traced, { at: point.at, ...resultOf(fault) });
}

function resultOf(fault: Fault): Pick<TraceOrder, "result" | "lasting"> {
  if ("signal" in fault) return {};
  if ("pretends" in fault) return { result: 0 };
  return { result: -constants.errno[fault.error], lasting: fault.lasting === true };
}

async function runTraced(
  traced: TracedProgram,
  fault: Pick<TraceOrder, "at" | "result" | "lasting">,
): Promise<FaultedRun> {
  const folder = createTempFolder({ mode: traced.options?.uid === undefined ? 0o700 : 0o777 });
  try {
    const order: TraceOrder = {
      report: join(folder, "report"),
      touching: traced.touching,
      ...fault,
    };
    const node = process.env["COFFERDAM_TEST_NODE"] ?? process.execPath;
    const result = await runChild(traced.program, traced.args, {
      ...traced.options,
      wrapper: [node, await buildProgram(tracer), JSON.stringify(order)],
    });
    const { points, fired } = readReport(order.report, result);
    return { ...result, fired, points: points.map((point, at) => ({ at: at + 1, ...point })) };
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
