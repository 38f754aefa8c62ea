import { expect, test } from "vitest";
import { type FaultedRun, namedPoints, runWithout } from "../../support/faults.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import type { NamedCall } from "../../support/tracer/call-name.ts";
import { type FaultSettings, createRandom, faultSettings } from "../settings.ts";
import type { Shape } from "../shape.ts";
import { planCommitShape, planUndoShape } from "../shapes/plan.ts";
import { commitShape, undoShape } from "../shapes/resource.ts";
import { SUBJECTS } from "../subjects.ts";
import { settleTally } from "../tally.ts";
import { tracedProgram } from "../traced-program.ts";
import { type Template, makeTemplate } from "../tree.ts";
import { shardOf } from "../trials.ts";
import { type MissingSync, missingSyncs } from "./sync-order.ts";
import { isSync } from "./sync-points.ts";

const HOURS = 3_600_000;
/** How many syncs a sample leaves out. */
const FEW = 2;

const SHAPES: Readonly<Record<string, (template: Template) => Shape>> = {
  "a commit of a plan": planCommitShape,
  "an undo of a plan": planUndoShape,
  ...Object.fromEntries(
    Object.values(SUBJECTS).flatMap((subject) => [
      [`a commit, ${subject.name}`, (template: Template) => commitShape(subject, template)],
      [
        `an undo, ${subject.name}`,
        (template: Template) => undoShape("undoCommit", subject, template),
      ],
    ]),
  ),
};

/** One run of a shape, with what it relied on too early. */
interface JudgedRun {
  readonly run: FaultedRun;
  readonly missing: readonly MissingSync[];
  /** Its syncs, in their order. */
  readonly syncs: readonly NamedCall[];
}

for (const [name, shapeOf] of Object.entries(SHAPES)) {
  test(
    `${name} syncs everything before the step that relies on it, and each sync that is left out is noticed (R222)`,
    async () => {
      const settings = faultSettings();
      const began = Date.now();
      const template = makeTemplate();
      try {
        const shape = shapeOf(template);
        const { missing, syncs } = await runShape(shape, []);
        expect(missing).toEqual([]);
        const tried = chosen(syncs, settings);
        const unnoticed: string[] = [];
        let fired = 0;
        for (const sync of tried) {
          const without = await runShape(shape, [sync]);
          if (without.run.fired) fired += 1;
          if (without.missing.length === 0) unnoticed.push(sync.name);
        }
        settleTally(
          {
            suite: "power",
            shape: shape.name,
            faults: "one sync left out, by the order of calls",
            seed: settings.seed,
            enumerated: syncs.length,
            tried: tried.length,
            fired,
            old: 0,
            new: tried.length - unnoticed.length,
            violations: unnoticed,
            seconds: Math.round((Date.now() - began) / 1000),
          },
          settings,
        );
      } finally {
        removeFolder(template.folder);
      }
    },
    2 * HOURS,
  );
}

async function runShape(shape: Shape, without: readonly NamedCall[]): Promise<JudgedRun> {
  const ground = shape.makeGround();
  try {
    const traced = tracedProgram(ground, await shape.arrange(ground));
    const run = await runWithout(traced, without, ground.folder);
    expect(run.code, run.stderr).toBe(0);
    const missing = missingSyncs(ground, run.points, new Set(run.left.map(({ at }) => at)));
    const syncs = namedPoints(run.points, ground.folder).filter(isSync);
    return { run, missing, syncs };
  } finally {
    removeFolder(ground.folder);
  }
}

function chosen(syncs: readonly NamedCall[], settings: FaultSettings): readonly NamedCall[] {
  if (settings.all) return shardOf(syncs, settings);
  const random = createRandom(settings.seed);
  const ranked = syncs.map((sync) => ({ sync, rank: random() }));
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, FEW)
    .map(({ sync }) => sync);
}
