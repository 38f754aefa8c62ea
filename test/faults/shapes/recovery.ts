import assert from "node:assert/strict";
import { type FaultPoint, faultPoints, runWithFault } from "../../support/faults.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { createEdited, makeGround, openGround, type Ground } from "../ground.ts";
import type { Operation } from "../order.ts";
import type { Ending, Shape } from "../shape.ts";
import type { Subject } from "../subjects.ts";
import { tracedProgram } from "../traced-program.ts";
import type { Template } from "../tree.ts";
import { commitEdited, judgeCommit, judgeUndo } from "./resource.ts";

/** Where the first process dies, and what recovery must make of it. */
export interface Moment {
  readonly name: string;
  readonly operation: "commit" | "rollback";
  /** The call at which it dies. */
  readonly find: (points: readonly FaultPoint[]) => FaultPoint | undefined;
  readonly ending: Ending;
}

const isPublishing = ({ call, paths }: FaultPoint): boolean =>
  call === "renameat2" && paths.some((path) => path.includes("/real/"));

/** The moments that ask something different of recovery. */
export const MOMENTS = {
  prepared: {
    name: "a commit before its decision",
    operation: "commit",
    find: (points) =>
      points.find(({ call, paths }) => call === "link" && paths[1]?.endsWith("/decision") === true),
    ending: "old",
  },
  publishing: {
    name: "a commit in the middle of publishing",
    operation: "commit",
    find: (points) => points.filter(isPublishing)[3],
    ending: "new",
  },
  finishing: {
    name: "a commit that only had to be recorded",
    operation: "commit",
    find: (points) =>
      points.find(
        ({ call, paths }) => call === "rename" && paths[1]?.includes("/state/done/") === true,
      ),
    ending: "new",
  },
  undoing: {
    name: "an undo half way",
    operation: "rollback",
    find: (points) => points.filter(isPublishing)[3],
    ending: "new",
  },
} as const satisfies Record<string, Moment>;

const ATTEMPTS = 5;

/** Recovery itself is disturbed: the next one still brings everything to the end that the first decision demands. */
export function recoveryShape(moment: Moment, subject: Subject, template: Template): Shape {
  let at: number | undefined;
  let interrupted: Operation | undefined;
  return {
    name: `recovery of ${moment.name}, ${subject.name}`,
    makeGround: () => makeGround(subject, template),
    arrange: async (ground) => {
      at ??= await placeOf(moment, subject, template);
      interrupted = await interrupt(moment, ground, at);
      return { operation: "open" };
    },
    judge: async (scene) => {
      assert.ok(interrupted !== undefined && "ref" in interrupted);
      const judge = moment.operation === "commit" ? judgeCommit : judgeUndo;
      const ending = await judge({ ...scene, told: null, ref: interrupted.ref });
      assert.equal(ending, moment.ending);
      return ending;
    },
  };
}

/** Brings a ground to the moment before the operation that dies. */
async function begin(moment: Moment, ground: Ground): Promise<Operation> {
  await using coffer = await openGround(ground);
  const make = moment.operation === "commit" ? createEdited : commitEdited;
  return { operation: moment.operation, ref: await make(ground, coffer) };
}

async function placeOf(moment: Moment, subject: Subject, template: Template): Promise<number> {
  const ground = makeGround(subject, template);
  try {
    const points = await faultPoints(tracedProgram(ground, await begin(moment, ground)));
    const point = moment.find(points);
    assert.ok(point !== undefined, `${moment.name} never comes`);
    return point.at;
  } finally {
    removeFolder(ground.folder);
  }
}

/** Lets the operation die at its moment; the number of the call may differ by what the machine does besides. */
async function interrupt(moment: Moment, ground: Ground, at: number): Promise<Operation> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const operation = await begin(moment, ground);
    const run = await runWithFault(tracedProgram(ground, operation), { at }, { signal: "KILL" });
    if (run.fired && moment.find(run.points)?.at === at) return operation;
    await using coffer = await openGround(ground);
    for (const { ref } of await coffer.list()) await coffer.sandbox(ref).rollback();
    for (const { ref } of await coffer.list()) await coffer.sandbox(ref).cleanup();
  }
  throw new Error(`${moment.name} was missed ${ATTEMPTS} times`);
}
