import { type DiskState, TwoDisks } from "../../support/disk-images.ts";
import type { DiskKind } from "../../support/loop.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { nameOfCall } from "../../support/tracer/call-name.ts";
import { type FaultSettings, createRandom } from "../settings.ts";
import type { Ending } from "../shape.ts";
import type { Tally } from "../tally.ts";
import { type Template, makeTemplate } from "../tree.ts";
import { shardOf } from "../trials.ts";
import {
  type Moment,
  type PoweredRun,
  type Writing,
  judgeMoment,
  prepareDisks,
  runPowered,
} from "./lose-power.ts";
import type { PowerShape } from "./power-shapes.ts";

/** The least moments that a sample takes. */
const LEAST = 3;

/** A shape with the disks on which it is tried. */
export interface PowerBench {
  readonly disks: TwoDisks;
  readonly template: Template;
  readonly shape: PowerShape;
  readonly base: DiskState;
}

/** Makes disks and a shape on them for one piece of work. */
export async function withBench<T>(
  kind: DiskKind,
  makeShape: (template: Template) => PowerShape,
  work: (bench: PowerBench) => Promise<T>,
): Promise<T> {
  const template = makeTemplate();
  try {
    await using disks = new TwoDisks(kind);
    const shape = makeShape(template);
    return await work({ disks, template, shape, base: await prepareDisks(disks, shape, template) });
  } finally {
    removeFolder(template.folder);
  }
}

/** Lets the power fail at the moments of one run, and tells what was left. */
export async function losePower(
  bench: PowerBench,
  writing: Writing,
  settings: FaultSettings,
): Promise<Tally> {
  const began = Date.now();
  const { disks, shape, base, template } = bench;
  const run = await runPowered(disks, base, shape, template, { writing });
  try {
    const moments = chosen(run.moments, settings);
    const endings: Ending[] = [];
    const violations: string[] = [];
    for (const moment of moments) {
      const found = await tryMoment(bench, moment);
      if ("ending" in found) endings.push(found.ending);
      else violations.push(found.violation);
    }
    const count = (wanted: Ending): number => endings.filter((ending) => ending === wanted).length;
    const tried = sizeOf(moments);
    return {
      suite: "power",
      shape: shape.name,
      faults: `${disks.kind}, written is ${writing}`,
      seed: settings.seed,
      enumerated: sizeOf(run.moments),
      tried,
      fired: tried,
      old: count("old"),
      new: count("new"),
      violations,
      seconds: Math.round((Date.now() - began) / 1000),
      remarks: [`${moments.length} of ${run.moments.length} states of the disks`],
    };
  } finally {
    run.drop();
  }
}

/** How the power's loss at a moment ended, or what is wrong then. */
export async function tryMoment(
  { disks, shape, template }: PowerBench,
  moment: Moment,
): Promise<{ readonly ending: Ending } | { readonly violation: string }> {
  try {
    return { ending: await judgeMoment(disks, shape, template, moment) };
  } catch (error) {
    const [next] = moment.points;
    const where =
      next === undefined ? "the end" : nameOfCall(next.call, next.paths, disks.mountPoint);
    const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { violation: `before ${where}: ${why.replaceAll(disks.mountPoint, "")}` };
  }
}

/** All moments of the shard; in a sample a tenth of them and the last, which is the one that something was said about. */
function chosen(moments: PoweredRun["moments"], settings: FaultSettings): readonly Moment[] {
  if (settings.all) return shardOf(moments, settings);
  const random = createRandom(settings.seed);
  const ranked = moments.slice(0, -1).map((moment) => ({ moment, rank: random() }));
  const wanted = Math.max(LEAST, Math.ceil(moments.length / 10)) - 1;
  const some = ranked.toSorted((a, b) => a.rank - b.rank).slice(0, wanted);
  return [...some.map(({ moment }) => moment), ...moments.slice(-1)];
}

/** How many calls the moments stand for, the end of the program among them. */
function sizeOf(moments: readonly Moment[]): number {
  return moments.reduce(
    (sum, { points, told }) => sum + points.length + (told === null ? 0 : 1),
    0,
  );
}
