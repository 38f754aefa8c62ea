import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { DiskState, TwoDisks } from "../../support/disk-images.ts";
import { type FaultPoint, type FaultedRun, namedPoints, runWithout } from "../../support/faults.ts";
import type { NamedCall } from "../../support/tracer/call-name.ts";
import { toldBy } from "../disturb.ts";
import { type Ground, groundAt } from "../ground.ts";
import { judgeGround } from "../judge-ground.ts";
import type { Told } from "../order.ts";
import type { Ending } from "../shape.ts";
import { secondPlace } from "../two-devices.ts";
import { SUBJECTS } from "../subjects.ts";
import { tracedProgram } from "../traced-program.ts";
import type { Template } from "../tree.ts";
import type { PowerShape } from "./power-shapes.ts";

/** What is on the disks at one moment of a run. */
export interface Moment {
  readonly disks: DiskState;
  /** The calls before each of which the disks look like this. */
  readonly points: readonly FaultPoint[];
  /** What the program has said by then; null while it runs. */
  readonly told: Told | null;
}

/** One run with all that a loss of power could leave of it. */
export interface PoweredRun {
  /** The calls of the operation itself. */
  readonly points: readonly (FaultPoint & NamedCall)[];
  readonly fired: boolean;
  /** The calls that were left out. */
  readonly left: readonly FaultPoint[];
  /** Those after the operation began, the end of the program last. */
  readonly moments: readonly Moment[];
  /** Frees the states of the disks. */
  readonly drop: () => void;
}

/** How the disks behave in a run: only what is synced is written, or everything on one of them is, at once. */
export type Writing = "only what is synced" | "all of the first disk" | "all of the second disk";

/** Makes the disks as they are before the operation. */
export async function prepareDisks(
  disks: TwoDisks,
  shape: PowerShape,
  template: Template,
): Promise<DiskState> {
  disks.format();
  const ground = groundOn(disks, template);
  for (const place of [ground.resource.location, secondPlace(ground)]) {
    execFileSync("cp", ["-a", template.tree, place]);
  }
  await shape.prepare(ground);
  return disks.unload();
}

/** Runs the operation, without some of its syncs if wanted, and keeps what is on the disks at each of its calls. */
export async function runPowered(
  disks: TwoDisks,
  base: DiskState,
  shape: PowerShape,
  template: Template,
  { without = [], writing }: { readonly without?: readonly NamedCall[]; readonly writing: Writing },
): Promise<PoweredRun> {
  disks.load(base);
  const ground = groundOn(disks, template, shape);
  await shape.justBefore?.(ground);
  const keep = { ...disks.keeping(), ...flushing(ground, writing) };
  const traced = { ...tracedProgram(ground, shape.operation), keep };
  const run = await runWithout(traced, without, ground.folder);
  const told = toldBy(run);
  disks.drop(disks.unload());
  const points = operationOf(run, ground);
  return {
    points,
    fired: run.fired,
    left: run.left,
    moments: momentsOf(run, points, told, keep.into),
    drop: () => disks.drop([keep.into]),
  };
}

/** What became of the operation when the power failed at a moment; throws when it is wrong. */
export async function judgeMoment(
  disks: TwoDisks,
  shape: PowerShape,
  template: Template,
  { disks: state, told }: Moment,
): Promise<Ending> {
  disks.load(state);
  try {
    const ground = groundOn(disks, template, shape);
    return await judgeGround(shape.judge, { ground, told, ref: null, isBrief: true });
  } finally {
    disks.drop(disks.unload());
  }
}

function groundOn(
  disks: TwoDisks,
  template: Template,
  { known }: Partial<PowerShape> = {},
): Ground {
  const ground = groundAt(disks.mountPoint, SUBJECTS.copy, template);
  return known?.(ground) ?? ground;
}

function flushing(ground: Ground, writing: Writing): { readonly flushing?: string } {
  if (writing === "only what is synced") return {};
  return { flushing: writing === "all of the first disk" ? ground.folder : secondPlace(ground) };
}

function operationOf(run: FaultedRun, ground: Ground): PoweredRun["points"] {
  const begun = run.points.findIndex(({ paths }) => paths.includes(ground.begun));
  return namedPoints(run.points, ground.folder).slice(begun + 1);
}

function momentsOf(
  run: FaultedRun,
  points: readonly FaultPoint[],
  told: Told | null,
  into: string,
): Moment[] {
  const first = points[0]?.kept ?? 0;
  return Array.from({ length: run.copies - first }, (_, at): Moment => {
    const number = first + at;
    return {
      disks: [join(into, `${number}-0`), join(into, `${number}-1`)],
      points: points.filter(({ kept }) => kept === number),
      told: number === run.copies - 1 ? told : null,
    };
  });
}
