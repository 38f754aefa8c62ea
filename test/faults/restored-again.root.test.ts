import assert from "node:assert/strict";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openCofferdam } from "../../src/index.ts";
import { runWithFault } from "../support/faults.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { samplePoints } from "../support/sample-points.ts";
import { pointsOf } from "./disturb.ts";
import { type Ground, PLAN } from "./ground.ts";
import { planRestoreShape } from "./shapes/plan-checkpoint.ts";
import { TWO_DEVICES } from "./shapes/plan.ts";
import { tracedProgram } from "./traced-program.ts";
import { type Template, makeTemplate } from "./tree.ts";

let template: Template;
beforeAll(() => {
  template = makeTemplate();
});
afterAll(() => removeFolder(template.folder));

/** Restores once more in a process that was told not to recover anything; then recovery may come. */
async function restoreAgain(ground: Ground): Promise<void> {
  await using coffer = await openCofferdam({
    stateDirectory: ground.state,
    config: false,
    // It is looked at, and nothing is done.
    recover: "report",
  });
  await (await coffer.plan(PLAN)).restoreCheckpoint("kept");
  assert.equal(await TWO_DEVICES.stateOfSandboxes(ground, coffer), "edited");
  await coffer.recover();
  assert.equal(await TWO_DEVICES.stateOfSandboxes(ground, coffer), "edited");
}

test("a restore that was killed does not hinder the next one, also where nothing was recovered (R185)", async () => {
  const shape = planRestoreShape(template);
  for (const point of samplePoints(8)(await pointsOf(shape))) {
    const ground = shape.makeGround();
    try {
      const traced = tracedProgram(ground, await shape.arrange(ground));
      expect((await runWithFault(traced, point, { signal: "KILL" })).fired).toBe(true);
      await restoreAgain(ground);
    } finally {
      removeFolder(ground.folder);
    }
  }
});
