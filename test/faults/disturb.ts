import assert from "node:assert/strict";
import {
  type Fault,
  type FaultPoint,
  type FaultedRun,
  aimAgain,
  runUndisturbed,
  runWithFault,
} from "../support/faults.ts";
import { removeFolder } from "../support/remove-folder.ts";
import type { Ground } from "./ground.ts";
import { judgeGround } from "./judge-ground.ts";
import type { Operation, Told } from "./order.ts";
import type { FaultSettings } from "./settings.ts";
import type { Ending, Shape } from "./shape.ts";
import type { Tally } from "./tally.ts";
import { tracedProgram } from "./traced-program.ts";
import {
  type Trial,
  describeFault,
  isLasting,
  sampleOf,
  shardOf,
  suiteOf,
  trialsOf,
} from "./trials.ts";

const ATTEMPTS = 4;
/** How much of a violation is shown. */
const LONGEST = 3000;
/** A shape that is about to be disturbed. */
interface Arranged {
  readonly ground: Ground;
  readonly operation: Operation;
}

/**
 * Disturbs a shape at its points, one fresh ground for each, and tells what was left. A sample has one fault at each of
 * its points, and at most so many where that is told; all points get every fault.
 */
export async function disturb(
  shape: Shape,
  faults: readonly Fault[],
  settings: FaultSettings,
  sampled?: number,
): Promise<Tally> {
  const began = Date.now();
  const points = await pointsOf(shape);
  const all = trialsOf(points, faults);
  const trials = settings.all
    ? shardOf(all, settings)
    : sampleOf(points, faults, settings, shape.name, sampled);
  const endings: Ending[] = [];
  const violations: string[] = [];
  let fired = 0;
  for (const trial of trials) {
    const found = await tryPoint(shape, trial, points.at(-1)?.at ?? 0);
    fired += found.fired ? 1 : 0;
    if ("ending" in found) endings.push(found.ending);
    else violations.push(found.violation);
  }
  const count = (wanted: Ending): number => endings.filter((ending) => ending === wanted).length;
  return {
    suite: faults.every((fault) => suiteOf(fault) === "crash") ? "crash" : "errno",
    shape: shape.name,
    faults: [...new Set(faults.map(describeFault))].join(", "),
    seed: settings.seed,
    enumerated: settings.all ? all.length : points.length,
    tried: trials.length,
    fired,
    old: count("old"),
    new: count("new"),
    violations,
    seconds: Math.round((Date.now() - began) / 1000),
  };
}

/** The calls of an undisturbed run, from where the operation begins. One that fails by itself would prove nothing. */
export async function pointsOf(shape: Shape): Promise<FaultPoint[]> {
  const arranged = await arrange(shape);
  try {
    const run = await runUndisturbed(tracedProgram(arranged.ground, arranged.operation));
    assert.equal(toldBy(run)?.outcome, "done", `fails without any fault: ${run.stdout}`);
    const all = run.points;
    const begun = all.findIndex(({ paths }) => paths.includes(arranged.ground.begun));
    return all.slice(begun + 1);
  } finally {
    removeFolder(arranged.ground.folder);
  }
}

type Found =
  | { readonly fired: boolean; readonly ending: Ending }
  | { readonly fired: boolean; readonly violation: string };

/** Disturbs a shape at one point, which is aimed at again when it is missed, and tells what was left. */
export async function tryPoint(shape: Shape, trial: Trial, listed: number): Promise<Found> {
  const { point, fault } = trial;
  let run: FaultedRun | undefined;
  let aim = point;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const { ground, operation } = await arrange(shape);
    try {
      run = await runWithFault(tracedProgram(ground, operation), aim, fault);
      if (run.fired)
        return { fired: true, ending: await judge(shape, { ground, operation }, run, fault) };
      aim = aimAgain(point, listed, run) ?? point;
    } catch (error) {
      return {
        fired: run?.fired === true,
        violation: describeViolation({ point: aim, fault }, ground, run, error),
      };
    } finally {
      removeFolder(ground.folder);
    }
  }
  return { fired: false, violation: `${point.at} ${point.call}: missed ${ATTEMPTS} times` };
}

async function judge(
  shape: Shape,
  { ground, operation }: Arranged,
  run: FaultedRun,
  fault: Fault,
): Promise<Ending> {
  const told = toldBy(run);
  if (told !== null) shape.judgeAtOnce?.(ground, told);
  const ref = "ref" in operation ? operation.ref : null;
  return judgeGround(shape.judge, { ground, told, ref, isBrief: !isLasting(fault) });
}

/** What the program said; null when it was killed. */
export function toldBy({ code, signal, stdout, stderr }: FaultedRun): Told | null {
  if (signal === "SIGKILL") return null;
  if (code !== 0) throw new Error(`no typed error left the program: ${code} ${signal} ${stderr}`);
  return JSON.parse(stdout) as Told;
}

async function arrange(shape: Shape): Promise<Arranged> {
  const ground = shape.makeGround();
  return { ground, operation: await shape.arrange(ground) };
}

function describeViolation(
  { point, fault }: Trial,
  { folder }: Ground,
  run: FaultedRun | undefined,
  error: unknown,
): string {
  const short = (text: string): string => text.replaceAll(folder, "");
  const at = run?.points[point.at - 1] ?? point;
  const where = `${describeFault(fault)} at ${point.at} ${at.call} ${at.paths.map(short).join(" ")}`;
  const why = error instanceof Error ? short(error.stack ?? error.message) : String(error);
  const said = short(run?.stdout ?? "").trim();
  return `${where}: ${why}\n  said: ${said}`.slice(0, LONGEST);
}
