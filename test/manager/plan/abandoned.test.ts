import { existsSync, mkdirSync, readdirSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { takeOracle } from "../../support/oracle.ts";
import { type Site, edit, mark, openSite, reopenSite, run, sandboxOf } from "../site.ts";
import { startActing } from "../act.ts";
import { until } from "../until.ts";
import { DAY, end, startOwner, twoDaysLater } from "./owner.ts";

it("takes a plan for abandoned only when nobody keeps it, its owner is gone and the lease is over (R162)", async () => {
  const site = await openSite();
  const [living, killed, keeping] = [
    await startOwner(site, "living"),
    await startOwner(site, "killed"),
    await startOwner(site, "kept", "keep"),
  ];
  await end(killed, "SIGKILL");
  await end(keeping, "SIGKILL");
  const { coffer: soon } = await reopenSite(site);
  expect(await soon.cleanupAbandoned()).toEqual({
    abandoned: [],
    spared: { living: "owned", killed: "recent", kept: "kept" },
  });
  const { coffer: later } = await twoDaysLater(site);
  expect(await later.cleanupAbandoned()).toEqual({
    abandoned: [{ planId: "killed", succeeded: ["tree"], failed: {}, skipped: {} }],
    spared: { living: "owned", kept: "kept" },
  });
  expect((await later.list()).map(({ ref }) => ref.planId).toSorted()).toEqual(["kept", "living"]);
  expect(await (await later.plan("kept")).describe()).toMatchObject({ kept: true });
  await end(living, "SIGKILL");
  expect((await later.cleanupAbandoned()).spared).toEqual({ kept: "kept" });
});

it("counts from the end of the owner, however long it only looked on", async () => {
  const site = await openSite({ clock: { now: () => new Date(Date.now() - 3 * DAY) } });
  const sandbox = await sandboxOf(site, "probe");
  run("touch", "-d", "3 days ago", ...ownerMarks(site));
  await site.coffer.close();
  const { coffer } = await reopenSite(site, {
    clock: { now: () => new Date(Date.now() + DAY - 60_000) },
  });
  expect((await coffer.cleanupAbandoned()).spared).toEqual({ plan: "recent" });
  expect(await coffer.status(sandbox.ref)).toBe("CREATED");
  expect((await coffer.cleanupAbandoned({ idleMs: 1000 })).abandoned).toHaveLength(1);
  expect(await coffer.status(sandbox.ref)).toBe("PENDING");
});

it("owns all plans that are opened at the same time", async () => {
  const first = await openSite();
  const planIds = ["one", "two", "three"];
  for (const planId of planIds) await sandboxOf(first, "probe", planId);
  await first.coffer.close();
  const next = await reopenSite(first);
  await Promise.all(planIds.map((planId) => next.coffer.plan(planId)));
  expect(next.events.map(({ name }) => name)).not.toContain("plan.unclaimed");
  const { coffer } = await twoDaysLater(first);
  expect((await coffer.cleanupAbandoned()).spared).toEqual({
    one: "owned",
    two: "owned",
    three: "owned",
  });
});

it("lets whoever goes on with a plan own it as well", async () => {
  const site = await openSite();
  await end(await startOwner(site, "taken"), "SIGKILL");
  const next = await reopenSite(site);
  const plan = await next.coffer.plan("taken");
  const later = await twoDaysLater(site);
  expect((await later.coffer.cleanupAbandoned()).spared).toEqual({ taken: "owned" });
  await plan.commit();
  await next.coffer.close();
  const { abandoned } = await later.coffer.cleanupAbandoned();
  expect(abandoned.map(({ planId }) => planId)).toEqual(["taken"]);
  expect(run("cat", join(site.data, "a"))).toBe("of taken\n");
  expect(readdirSync(join(site.stateDirectory, "plans"))).toEqual([]);
  expect(readdirSync(join(site.stateDirectory, "area"))).toEqual([]);
});

it.each([
  { step: "prepare", published: false },
  { step: "apply", published: true },
] as const)(
  "recovers an abandoned plan that was killed in $step before it removes it (R163)",
  async ({ step, published }) => {
    const site = await openSite();
    const old = takeOracle(site.data);
    const sandbox = await sandboxOf(site, "two-phase");
    await edit(sandbox);
    await mark(sandbox, step, "once", "half", "kill");
    const { ref } = sandbox;
    const { stateDirectory } = site;
    const child = await startActing({ options: { stateDirectory }, ref, calls: [["commit"]] });
    expect((await child.result).signal).toBe("SIGKILL");
    await site.coffer.close();
    const later = await reopenSite(site, {
      recover: "report",
      clock: { now: () => new Date(Date.now() + 2 * DAY) },
    });
    const { abandoned } = await later.coffer.cleanupAbandoned({ idleMs: 0 });
    expect(abandoned).toMatchObject([{ failed: {} }]);
    expect(existsSync(join(site.data, "made/new"))).toBe(published);
    expect(existsSync(join(site.data, "b"))).toBe(!published);
    expect(JSON.stringify(takeOracle(site.data)) === JSON.stringify(old)).toBe(!published);
    for (const folder of ["plans", "tx", "area"])
      expect(readdirSync(join(stateDirectory, folder))).toEqual([]);
  },
);

it("leaves a plan alone that somebody is changing right now", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "two-phase");
  await edit(sandbox);
  const marker = await mark(sandbox, "apply", "half", "wait");
  const { stateDirectory } = site;
  const child = await startActing({
    options: { stateDirectory },
    ref: sandbox.ref,
    calls: [["commit"]],
  });
  await until(() => existsSync(join(site.data, "made/new")));
  await site.coffer.close();
  const later = await twoDaysLater(site);
  expect((await later.coffer.cleanupAbandoned()).spared).toEqual({ plan: "busy" });
  run("rm", marker);
  expect((await child.result).code).toBe(0);
  expect(await later.coffer.status(sandbox.ref)).toBe("COMMITTED");
});

function ownerMarks({ stateDirectory }: Site): string[] {
  const found = run("find", join(stateDirectory, "plans"), "-path", "*/owners/*", "-type", "f");
  return found.trim().split("\n");
}

it("goes on with the other abandoned plans when one cannot be locked, and ends it later (R262)", async () => {
  const site = await openSite();
  for (const planId of ["one", "two"]) await sandboxOf(site, "probe", planId);
  await site.coffer.close();
  const plans = join(site.stateDirectory, "plans");
  const lock = join(
    plans,
    readdirSync(plans).find((name) => name.startsWith("one-")) ?? "",
    "lock",
  );
  rmSync(lock);
  mkdirSync(lock);
  const { coffer } = await twoDaysLater(site);
  const { abandoned } = await coffer.cleanupAbandoned();
  expect(abandoned).toMatchObject([
    { planId: "one", succeeded: [], failed: { one: { code: "SANDBOX_CLEANUP", planId: "one" } } },
    { planId: "two", failed: {} },
  ]);
  expect((await coffer.list()).map(({ ref }) => ref.planId)).toEqual(["one"]);
  rmdirSync(lock);
  expect((await coffer.cleanupAbandoned()).abandoned).toMatchObject([
    { planId: "one", failed: {} },
  ]);
  expect(readdirSync(plans)).toEqual([]);
});

it("works on a plan also where it cannot say that it owns it (R262)", async () => {
  const site = await openSite();
  await sandboxOf(site, "probe");
  await site.coffer.close();
  const [mark = ""] = ownerMarks(site);
  const owners = dirname(mark);
  rmSync(owners, { recursive: true });
  writeFileSync(owners, "");
  const next = await reopenSite(site);
  const plan = await next.coffer.plan("plan");
  expect(next.events.map(({ name }) => name)).toEqual(["plan.unclaimed"]);
  expect(await plan.commit()).toMatchObject({ outcome: "committed" });
  await plan.cleanup();
  expect(readdirSync(join(site.stateDirectory, "plans"))).toEqual([]);
});
