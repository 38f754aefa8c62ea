import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { type FaultPoint, faultPoints, runWithFault } from "../../support/faults.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { type Ground, openGround } from "../ground.ts";
import type { Operation } from "../order.ts";
import type { Ending, Shape } from "../shape.ts";
import { tracedProgram } from "../traced-program.ts";

/** Where the first process dies, and what recovery must make of it. */
export interface Moment {
  readonly name: string;
  readonly of: "commit" | "undo";
  /** The call at which it dies. */
  readonly find: (points: readonly FaultPoint[]) => FaultPoint | undefined;
  readonly ending: Ending;
}

const isPublishing = ({ call, paths }: FaultPoint): boolean =>
  call === "renameat2" && paths.some((path) => path.includes("/real/"));

const isGivenName = ({ call, paths }: FaultPoint): boolean =>
  call === "link" && paths[1]?.endsWith("/decision") === true;

const isSuperJournal = ({ call, paths }: FaultPoint): boolean =>
  call === "unlink" && paths[0]?.includes("/decision.db-mj") === true;

/** The call by which the decision gets its name in the state directory. */
export function nameAmong(points: readonly FaultPoint[]): FaultPoint | undefined {
  return points.find(isGivenName);
}

/** The call that decides a commit or an undo: the super-journal of SQLite goes, or else the decision gets its name. */
function decisionAmong(points: readonly FaultPoint[]): FaultPoint | undefined {
  return points.find(isSuperJournal) ?? nameAmong(points);
}

/** The moments that ask something different of recovery. */
export const MOMENTS = {
  prepared: {
    name: "a commit before its decision",
    of: "commit",
    find: decisionAmong,
    ending: "old",
  },
  publishing: {
    name: "a commit in the middle of publishing",
    of: "commit",
    find: (points) => points.filter(isPublishing)[3],
    ending: "new",
  },
  finishing: {
    name: "a commit that only had to be recorded",
    of: "commit",
    find: (points) =>
      points.find(
        ({ call, paths }) => call === "rename" && paths[1]?.includes("/state/done/") === true,
      ),
    ending: "new",
  },
  undoing: {
    name: "an undo half way",
    of: "undo",
    find: (points) => points.filter(isPublishing)[3],
    ending: "new",
  },
} as const satisfies Record<string, Moment>;

const ATTEMPTS = 5;

/**
 * Recovery itself is disturbed, after a process died in the middle of an undisturbed shape: the next one still brings
 * everything to the end that the first decision demands.
 */
export function recoveryShape(moment: Moment, of: Shape): Shape {
  let at: number | undefined;
  let interrupted: Operation | undefined;
  return {
    name: `recovery of ${moment.name}: ${of.name}`,
    makeGround: of.makeGround,
    arrange: async (ground) => {
      at ??= await placeOf(moment, of);
      interrupted = await interrupt(moment, of, ground, at);
      return { operation: "open" };
    },
    judge: async (scene) => {
      assert.ok(interrupted !== undefined);
      const ref = "ref" in interrupted ? interrupted.ref : null;
      const ending = await of.judge({ ...scene, told: null, ref });
      assert.equal(ending, moment.ending);
      return ending;
    },
  };
}

async function placeOf(moment: Moment, of: Shape): Promise<number> {
  const ground = of.makeGround();
  try {
    const points = await faultPoints(tracedProgram(ground, await of.arrange(ground)));
    const point = moment.find(points);
    assert.ok(point !== undefined, `${moment.name} never comes`);
    return point.at;
  } finally {
    removeFolder(ground.folder);
  }
}

/** Lets the operation die at its moment; the number of the call may differ by what the machine does besides. */
async function interrupt(
  moment: Moment,
  of: Shape,
  ground: Ground,
  at: number,
): Promise<Operation> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const operation = await of.arrange(ground);
    const run = await runWithFault(tracedProgram(ground, operation), { at }, { signal: "KILL" });
    if (run.fired && moment.find(run.points)?.at === at) return operation;
    await using coffer = await openGround(ground);
    for (const { ref } of await coffer.list()) await coffer.sandbox(ref).rollback();
    for (const { ref } of await coffer.list()) await coffer.sandbox(ref).cleanup();
    rmSync(ground.begun, { recursive: true, force: true });
  }
  throw new Error(`${moment.name} was missed ${ATTEMPTS} times`);
}
