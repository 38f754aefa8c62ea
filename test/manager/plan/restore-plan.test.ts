import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { actUntilEnd } from "../act.ts";
import { failureOf } from "../failure.ts";
import { mark } from "../site.ts";
import { MIXED, contents, idsOf, writeAll } from "./plan-contents.ts";
import { openPlanSite } from "./plan-site.ts";

describe.each(["error", "string", "half"] as const)("a restore that fails by %s", (word) => {
  it("in the third of three puts the other two back (R207)", async () => {
    const site = await openPlanSite(MIXED);
    await site.plan.checkpoint("kept");
    await writeAll(site, "later\n");
    await mark(site.sandbox("three"), "restore", "once", word);
    expect(await failureOf(site.plan.restoreCheckpoint("kept"))).toMatchObject({
      code: "CHECKPOINT",
      data: { checkpointId: "kept", reason: "failed" },
      resourceId: "three",
    });
    expect(await contents(site)).toEqual(["later\n", "later\n", "later\n"]);
    const { sandboxes } = await site.plan.describe();
    expect(sandboxes.map(({ status, interrupted }) => [status, interrupted])).toEqual([
      ["ACTIVE", false],
      ["ACTIVE", false],
      ["ACTIVE", false],
    ]);
    await site.plan.restoreCheckpoint("kept");
    expect(await contents(site)).toEqual(["new a\n", "new a\n", "new a\n"]);
  });
});

it("leaves the first of three alone when the second throws before it begins", async () => {
  const site = await openPlanSite({ one: "probe", two: "probe", three: "probe" });
  await site.plan.checkpoint("kept");
  await writeAll(site, "later\n");
  await mark(site.sandbox("two"), "restore", "once", "sync");
  expect(await failureOf(site.plan.restoreCheckpoint("kept"))).toMatchObject({ resourceId: "two" });
  expect(await contents(site)).toEqual(["later\n", "later\n", "later\n"]);
});

it("keeps a sandbox back that could not be put back, until it can", async () => {
  const site = await openPlanSite({ one: "copy_on_write", two: "probe", three: "copy_on_write" });
  await site.plan.checkpoint("kept");
  await writeAll(site, "later\n");
  const marker = await mark(site.sandbox("two"), "restore", "half", "string");
  const before = await idsOf(site);
  expect(await failureOf(site.plan.restoreCheckpoint("kept"))).toMatchObject({
    code: "CHECKPOINT",
    data: { reason: "failed", keptAs: expect.stringMatching(/^auto-/) as string },
    resourceId: "two",
  });
  const statuses = (await site.plan.describe()).sandboxes.map(({ status }) => status);
  expect(statuses).toEqual(["ACTIVE", "ERRORED", "ACTIVE"]);
  expect(await failureOf(site.plan.checkpoint("more"))).toMatchObject({ code: "SANDBOX_STATE" });
  rmSync(marker);
  expect(await site.site.coffer.recover()).toMatchObject({ complete: true });
  expect(await contents(site)).toEqual(["later\n", "later\n", "later\n"]);
  expect(await idsOf(site)).toEqual([...before, "auto"]);
});

it("puts all back after a process was killed in the middle of a restore (R205, R207)", async () => {
  const site = await openPlanSite(MIXED);
  await site.plan.checkpoint("kept");
  await writeAll(site, "later\n");
  await mark(site.sandbox("three"), "restore", "once", "half", "kill");
  const { stateDirectory } = site.site;
  const calls = [["restoreCheckpoint", "kept"]] as const;
  const ended = await actUntilEnd({ options: { stateDirectory }, planId: "plan", calls });
  expect(ended.signal).toBe("SIGKILL");
  const { sandboxes } = await site.plan.describe();
  expect(sandboxes.map(({ interrupted }) => interrupted)).toEqual([true, true, true]);
  expect(await contents(site)).toEqual(["later\n", "later\n", "later\n"]);
  expect(await site.site.coffer.interrupted()).toMatchObject({ sandboxes: [] });
  await site.plan.restoreCheckpoint("kept");
  expect(await contents(site)).toEqual(["new a\n", "new a\n", "new a\n"]);
});

it("lists no checkpoint of a process that was killed while it made one (R207)", async () => {
  const site = await openPlanSite(MIXED);
  await mark(site.sandbox("three"), "checkpoint", "once", "kill");
  const { stateDirectory } = site.site;
  const calls = [["checkpoint", "kept"]] as const;
  const ended = await actUntilEnd({ options: { stateDirectory }, planId: "plan", calls });
  expect(ended.signal).toBe("SIGKILL");
  expect(await site.plan.checkpoints()).toEqual([]);
  await site.plan.checkpoint("kept");
  await writeAll(site, "later\n");
  await site.plan.restoreCheckpoint("kept");
  expect(await contents(site)).toEqual(["new a\n", "new a\n", "new a\n"]);
});
