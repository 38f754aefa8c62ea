import assert from "node:assert/strict";
import { afterAll, beforeAll, test } from "vitest";
import { runChild } from "../../support/child.ts";
import type { DatabaseProxy } from "../../support/database-proxy.ts";
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
import { SERVERS, useMixed } from "./use-mixed.ts";

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
  proxy: DatabaseProxy,
  shape: Shape,
  cut: { readonly at: number; readonly when: "before" | "after" },
  judge: (ground: Ground, told: Told) => Promise<Ending>,
): Promise<Ending> {
  const ground = shape.makeGround();
  try {
    const { program, args } = tracedProgram(ground, await shape.arrange(ground));
    proxy.arm({ statement: "", passing: cut.at, when: cut.when });
    const told = toldBy({
      ...(await runChild(program, args)),
      fired: true,
      points: [],
      copies: 0,
      left: [],
    });
    assert.ok(told !== null);
    return await judge(ground, told);
  } finally {
    removeFolder(ground.folder);
  }
}

async function messagesOf(proxy: DatabaseProxy, shape: Shape): Promise<number> {
  let count = 0;
  await operate(proxy, shape, { at: Number.POSITIVE_INFINITY, when: "before" }, (_ground, told) => {
    assert.equal(told.outcome, "done");
    count = proxy.passed;
    return Promise.resolve("new");
  });
  assert.ok(count > 0);
  return count;
}

const OPERATIONS = { "a commit": planCommitShape, "an undo": planUndoShape } as const;
const CUT = SERVERS.flatMap((name) =>
  Object.entries(OPERATIONS).map(([what, shapeOf]) => ({ name, what, shapeOf })),
);

for (const { name, what, shapeOf } of allOrOne(CUT)) {
  test(
    `a connection to ${name} that is cut at any message of ${what} leaves all old or all new, and that is told (R94)`,
    async () => {
      const { proxy } = mixed().served[name];
      const shape = shapeOf(template, mixed().world);
      const count = await messagesOf(proxy, shape);
      // The last one says good-bye, which nobody answers.
      const ways = Array.from({ length: count }, (_, at) => at).flatMap((at) =>
        (at < count - 1 ? MOMENTS : MOMENTS.slice(0, 1)).map((when) => ({ at, when })),
      );
      const title = `the connection to ${name} is cut in ${what}`;
      await tryEach({ name: title, ways, few: 1 }, (way) => {
        const firedBefore = proxy.fired;
        return operate(proxy, shape, way, (ground, told) => {
          assert.equal(proxy.fired, firedBefore + 1);
          shape.judgeAtOnce?.(ground, told);
          return judgeGround(shape.judge, { ground, told, ref: null, isBrief: true });
        });
      });
    },
    HOURS,
  );
}
