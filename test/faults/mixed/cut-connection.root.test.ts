import assert from "node:assert/strict";
import { afterAll, beforeAll, test } from "vitest";
import { runChild } from "../../support/child.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { toldBy } from "../disturb.ts";
import type { Ground } from "../ground.ts";
import { judgeGround } from "../judge-ground.ts";
import type { Told } from "../order.ts";
import { planCommitShape, planUndoShape } from "../shapes/plan.ts";
import type { Ending, Shape } from "../shape.ts";
import { tracedProgram } from "../traced-program.ts";
import { type Template, makeTemplate } from "../tree.ts";
import { allOrOne, tryEach } from "./try-each.ts";
import { useMixed } from "./use-mixed.ts";

const HOURS = 3_600_000;
const MOMENTS = ["before", "after"] as const;
const mixed = useMixed();
let template: Template;
beforeAll(() => {
  template = makeTemplate();
});
afterAll(() => removeFolder(template.folder));

/** Cuts the connection at the n-th message of an operation; without one it is only counted. */
async function operate(
  shape: Shape,
  cut: { readonly at: number; readonly when: "before" | "after" },
  judge: (ground: Ground, told: Told) => Promise<Ending>,
): Promise<Ending> {
  const { proxy } = mixed();
  const ground = shape.makeGround();
  try {
    const { program, args } = tracedProgram(ground, await shape.arrange(ground));
    proxy.arm({ statement: "", passing: cut.at, when: cut.when });
    const told = toldBy({ ...(await runChild(program, args)), fired: true, points: [], copies: 0 });
    assert.ok(told !== null);
    return await judge(ground, told);
  } finally {
    removeFolder(ground.folder);
  }
}

async function messagesOf(shape: Shape): Promise<number> {
  const { proxy } = mixed();
  let count = 0;
  await operate(shape, { at: Number.POSITIVE_INFINITY, when: "before" }, (_ground, told) => {
    assert.equal(told.outcome, "done");
    count = proxy.passed;
    return Promise.resolve("new");
  });
  assert.ok(count > 0);
  return count;
}

for (const [what, shapeOf] of allOrOne(
  Object.entries({
    "a commit": planCommitShape,
    "an undo": planUndoShape,
  }),
)) {
  test(
    `a connection that is cut at any message of ${what} leaves all old or all new, and that is told (R94)`,
    async () => {
      const shape = shapeOf(template, mixed().world);
      const count = await messagesOf(shape);
      // The last one says good-bye, which nobody answers.
      const ways = Array.from({ length: count }, (_, at) => at).flatMap((at) =>
        (at < count - 1 ? MOMENTS : MOMENTS.slice(0, 1)).map((when) => ({ at, when })),
      );
      const name = `the connection to the server is cut in ${what}`;
      await tryEach({ name, ways, few: 1 }, (way) => {
        const firedBefore = mixed().proxy.fired;
        return operate(shape, way, (ground, told) => {
          assert.equal(mixed().proxy.fired, firedBefore + 1);
          shape.judgeAtOnce?.(ground, told);
          return judgeGround(shape.judge, { ground, told, ref: null, isBrief: true });
        });
      });
    },
    HOURS,
  );
}
