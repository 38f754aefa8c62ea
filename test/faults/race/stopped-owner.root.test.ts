import assert from "node:assert/strict";
import { join } from "node:path";
import { afterAll, beforeAll, test } from "vitest";
import { type FaultPoint, type StoppedRun, faultPoints, runUntil } from "../../support/faults.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { toldBy } from "../disturb.ts";
import { type Ground, PLAN, openGround } from "../ground.ts";
import { everythingBelow, isFree, judgeGround } from "../judge-ground.ts";
import { planCommitShape } from "../shapes/plan.ts";
import { stateOfBoth } from "../two-devices.ts";
import type { Shape } from "../shape.ts";
import { tracedProgram } from "../traced-program.ts";
import { type Template, makeTemplate } from "../tree.ts";
import { type Round, playRounds, startContender } from "./arena.ts";

const MINUTES = 60_000;
const ATTEMPTS = 4;
let template: Template;
beforeAll(() => {
  template = makeTemplate();
});
afterAll(() => removeFolder(template.folder));

/** Stops a commit at a call that the round chooses, and looks what others make of it. */
async function withStopped(
  shape: Shape,
  points: readonly FaultPoint[],
  { random }: Round,
  work: (ground: Ground, owner: StoppedRun) => Promise<void>,
): Promise<void> {
  const point = points[Math.floor(random() * points.length)];
  assert.ok(point !== undefined);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const ground = shape.makeGround();
    try {
      const operation = await shape.arrange(ground);
      const owner = await runUntil(tracedProgram(ground, operation), point);
      if (owner === null) continue;
      try {
        await work(ground, owner);
      } finally {
        owner.kill();
        await owner.result;
      }
      return;
    } finally {
      removeFolder(ground.folder);
    }
  }
  throw new Error(`${point.call} was missed ${ATTEMPTS} times`);
}

/**
 * All but what is left of a transaction that is over, and files of owners that nobody has locked: whoever comes by may
 * take that away, also where an owner is only about to lock its own.
 */
function everythingNeeded({ folder }: Ground): readonly string[] {
  const lines = everythingBelow(folder).split("\n");
  return lines.filter((line) => {
    const [, owner] = /^(state\/owners\/\w+) f /.exec(line) ?? [];
    if (owner !== undefined) return !isFree(join(folder, owner));
    return !/^state\/(tx( d |\/\.old-)|owners d )/.test(line);
  });
}

async function pointsOf(shape: Shape): Promise<readonly FaultPoint[]> {
  const ground = shape.makeGround();
  try {
    const points = await faultPoints(tracedProgram(ground, await shape.arrange(ground)));
    return points.slice(points.findIndex(({ paths }) => paths.includes(ground.begun)) + 1);
  } finally {
    removeFolder(ground.folder);
  }
}

test(
  "recovery leaves a commit alone whose owner stands still, which is finished when it goes on (R224)",
  async () => {
    const shape = planCommitShape(template);
    const points = await pointsOf(shape);
    const race = { name: "recovery beside a stopped commit that goes on", whole: 60, few: 3 };
    await playRounds(race, (round) =>
      withStopped(shape, points, round, async (ground, owner) => {
        const before = everythingNeeded(ground);
        {
          await using coffer = await openGround(ground);
          const { transactions = [], sandboxes = [] } = coffer.opening.recovery ?? {};
          assert.deepEqual(
            transactions.filter(({ outcome }) => outcome !== "busy"),
            [],
          );
          assert.deepEqual(sandboxes, []);
        }
        assert.deepEqual(everythingNeeded(ground), before);
        owner.goOn();
        const told = toldBy(await owner.result);
        assert.equal(told?.committed, "committed");
        assert.equal(stateOfBoth(ground), "edited");
        await judgeGround(shape.judge, { ground, told, ref: null, isBrief: true });
      }),
    );
  },
  30 * MINUTES,
);

test(
  "a plan is free as soon as the process that held it is killed, and nothing is half done (R213)",
  async () => {
    const shape = planCommitShape(template);
    const points = await pointsOf(shape);
    const race = { name: "a process waits for a plan whose holder is killed", whole: 60, few: 3 };
    await playRounds(race, (round) =>
      withStopped(shape, points, round, async (ground, owner) => {
        await using waiter = await startContender(ground);
        const answer = waiter.tell({ call: "commit", planId: PLAN, afterMs: 0 });
        owner.kill();
        await owner.result;
        const { outcome, code } = await answer;
        // What was interrupted is refused until it is recovered.
        if (outcome === "failed") assert.ok(code === "SANDBOX_STATE" || code === "ATOMIC_COMMIT");
        const told = outcome === "done" ? ({ outcome, committed: "committed" } as const) : null;
        await judgeGround(shape.judge, { ground, told, ref: null, isBrief: true });
      }),
    );
  },
  30 * MINUTES,
);
