import { mkdirSync, readdirSync, rmSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AtomicCommitError, type CommitReport } from "../../../src/index.ts";
import { thrown } from "../../fixtures/probe/marker.ts";
import { failureOf } from "../failure.ts";
import { mark, run } from "../site.ts";
import { type PlanSite, isPublished, openPlanSite } from "./plan-site.ts";

const THREE = { one: "filesystem_copy", two: "two-phase", three: "copy_on_write" };

const published = (site: PlanSite, ...ids: string[]): boolean[] =>
  ids.map((id) => isPublished(site, id));

async function failedReport(work: Promise<unknown>): Promise<CommitReport> {
  const error = await failureOf(work);
  expect(error).toBeInstanceOf(AtomicCommitError);
  return (error as AtomicCommitError).data.report;
}

it("commits all sandboxes of a plan and reports each (R130)", async () => {
  const site = await openPlanSite(THREE);
  const report = await site.plan.commit({ message: "all" });
  expect(report).toMatchObject({
    planId: "plan",
    outcome: "committed",
    atomicity: "atomic",
    order: ["one", "two", "three"],
    failedId: null,
    notAttempted: [],
    skipped: {},
  });
  expect(report.results["three"]).toMatchObject({
    added: ["made", "made/new"],
    changed: ["a"],
    deleted: ["b"],
  });
  expect(report.results["three"]?.message).toBe("all");
  expect(published(site, "one", "two", "three")).toEqual([true, true, true]);
  const statuses = (await site.plan.describe()).sandboxes.map(({ status }) => status);
  expect(statuses).toEqual(["COMMITTED", "COMMITTED", "COMMITTED"]);
  expect(readdirSync(join(site.site.stateDirectory, "tx"))).toEqual([]);
});

describe.each(["prepare", "fence", "apply"])("when %s of a member fails", (step) => {
  it.each(["one", "two", "three"])(
    "leaves every resource as before when it is the one at place %s (R130)",
    async (failing) => {
      const strategies = { ...{ one: "copy_on_write", two: "filesystem_copy", three: "overlay" } };
      const site = await openPlanSite({ ...strategies, [failing]: "two-phase" });
      const marker = await mark(site.sandbox(failing), step, "error");
      const report = await failedReport(site.plan.commit());
      expect(report).toMatchObject({ outcome: "aborted", failedId: failing });
      expect(published(site, "one", "two", "three")).toEqual([false, false, false]);
      rmSync(marker);
      expect(await site.plan.commit()).toMatchObject({ outcome: "committed" });
      expect(published(site, "one", "two", "three")).toEqual([true, true, true]);
    },
  );
});

it.each(["error", "string", "undefined", "sync"] as const)(
  "undoes whatever is thrown, and passes it on untouched: %s (R131, R133)",
  async (word) => {
    const site = await openPlanSite({ first: "copy_on_write", second: "two-phase" });
    await mark(site.sandbox("second"), "apply", word);
    const error = await failureOf(site.plan.commit());
    expect(error).toBeInstanceOf(AtomicCommitError);
    const { report } = (error as AtomicCommitError).data;
    expect(report).toMatchObject({
      outcome: "aborted",
      failedId: "second",
      rolledBack: ["second", "first"],
    });
    expect((error.cause as Error).cause).toBe(thrown.last);
    expect(published(site, "first", "second")).toEqual([false, false]);
  },
);

it("keeps all edits of a failed commit, and publishes the same when it is repeated (R142)", async () => {
  const site = await openPlanSite(THREE);
  const { digest } = await site.plan.diff();
  const marker = await mark(site.sandbox("two"), "prepare", "error");
  await failedReport(site.plan.commit());
  rmSync(marker);
  expect((await site.plan.diff()).digest).toBe(digest);
  expect(await site.plan.commit({ expect: digest })).toMatchObject({ outcome: "committed" });
  expect(published(site, "one", "two", "three")).toEqual([true, true, true]);
});

it("commits only what was reviewed (R130)", async () => {
  const site = await openPlanSite(THREE);
  const { digest } = await site.plan.diff();
  await site.sandbox("three").write("later", "not reviewed\n");
  const report = await failedReport(site.plan.commit({ expect: digest }));
  expect(report.outcome).toBe("aborted");
  expect(published(site, "one", "two", "three")).toEqual([false, false, false]);
});

it("commits children before the resources that contain them (R138)", async () => {
  const strategies = { top: "two-phase", left: "two-phase", right: "two-phase", leaf: "two-phase" };
  const parents = { left: ["top"], right: ["top"], leaf: ["left", "right"] };
  const site = await openPlanSite(strategies, parents);
  expect((await site.plan.commit()).order).toEqual(["leaf", "left", "right", "top"]);
});

it("refuses resources that contain each other before anything changes (R138)", async () => {
  const site = await openPlanSite(
    { a: "copy_on_write", b: "copy_on_write" },
    { a: ["b"], b: ["a"] },
  );
  const error = await failureOf(site.plan.commit());
  expect(error).toMatchObject({ code: "ATOMIC_COMMIT", data: { report: { outcome: "refused" } } });
  expect(error.cause).toMatchObject({ code: "SANDBOX_STATE", data: { reason: "circle" } });
  expect(published(site, "a", "b")).toEqual([false, false]);
});

describe("a member that cannot prepare but undo", () => {
  it("is left to recovery when a later one fails and its undo too, before the decision (R262)", async () => {
    const site = await openPlanSite({ one: "probe", two: "probe" });
    const markers = [
      await mark(site.sandbox("one"), "undo", "error"),
      await mark(site.sandbox("two"), "commit", "error"),
    ];
    const report = await failedReport(site.plan.commit());
    expect(report).toMatchObject({ outcome: "in-doubt", failedId: "two", rolledBack: ["two"] });
    expect(Object.keys(report.rollbackFailed)).toEqual(["one"]);
    expect(published(site, "one", "two")).toEqual([true, false]);
    for (const marker of markers) rmSync(marker);
    expect(await site.site.coffer.recover()).toMatchObject({ complete: true });
    expect(published(site, "one", "two")).toEqual([false, false]);
    expect(await site.plan.commit()).toMatchObject({ outcome: "committed" });
  });

  it("is committed with all others, by what its strategy declares (R120)", async () => {
    const site = await openPlanSite({ one: "copy_on_write", two: "probe" });
    const report = await site.plan.commit();
    expect(report).toMatchObject({ outcome: "committed", atomicity: "atomic" });
    expect(published(site, "one", "two")).toEqual([true, true]);
  });

  it("is brought back when it fails half way (R132)", async () => {
    const site = await openPlanSite({ one: "copy_on_write", two: "probe" });
    await mark(site.sandbox("two"), "commit", "error", "half");
    const report = await failedReport(site.plan.commit());
    expect(report).toMatchObject({ outcome: "aborted", failedId: "two", rolledBack: ["two"] });
    expect(published(site, "one", "two")).toEqual([false, false]);
  });

  it("is undone in the reverse order when a later one fails (R136, R137)", async () => {
    const site = await openPlanSite({ z: "probe", a: "probe", m: "probe", last: "two-phase" });
    await mark(site.sandbox("last"), "apply", "error");
    const report = await failedReport(site.plan.commit());
    expect(report).toMatchObject({ outcome: "aborted", failedId: "last" });
    expect(report.rolledBack).toEqual(["last", "m", "a", "z"]);
    expect(published(site, "z", "a", "m", "last")).toEqual([false, false, false, false]);
  });

  it("keeps no other from being undone when its own undo fails (R136)", async () => {
    const site = await openPlanSite({ z: "probe", a: "probe", m: "probe", last: "two-phase" });
    await mark(site.sandbox("last"), "apply", "error");
    await mark(site.sandbox("a"), "undo", "string");
    const report = await failedReport(site.plan.commit());
    expect(report.rolledBack).toEqual(["last", "m", "z"]);
    expect(Object.keys(report.rollbackFailed)).toEqual(["a"]);
    expect(published(site, "z", "a", "m", "last")).toEqual([false, true, false, false]);
    expect(report.outcome).toBe("in-doubt");
    rmSync(await mark(site.sandbox("a"), "undo", "string"));
    expect((await site.site.coffer.recover()).complete).toBe(true);
    expect(published(site, "z", "a", "m", "last")).toEqual([false, false, false, false]);
  });
});

it("does not take a strategy's word for an undo (R135)", async () => {
  const site = await openPlanSite({ honest: "probe", liar: "pretending", last: "two-phase" });
  await mark(site.sandbox("last"), "apply", "error");
  const report = await failedReport(site.plan.commit());
  expect(report.rolledBack).toEqual(["last", "honest"]);
  expect(Object.keys(report.rollbackFailed)).toEqual(["liar"]);
  expect(report.outcome).toBe("in-doubt");
  expect(published(site, "honest", "liar", "last")).toEqual([false, true, false]);
});

describe("a plan of members that can be neither prepared nor undone", () => {
  it("is refused by default, and tells what stayed when best effort is allowed (R147, R263)", async () => {
    const site = await openPlanSite({ one: "one-way", two: "one-way", three: "one-way" });
    const refused = await failedReport(site.plan.commit());
    expect(refused).toMatchObject({ outcome: "refused" });
    const marker = await mark(site.sandbox("one"), "commit", "error");
    const first = await failedReport(site.plan.commit({ bestEffort: true }));
    expect(first).toMatchObject({ failedId: "one", order: [], notAttempted: ["two", "three"] });
    expect(published(site, "one", "two", "three")).toEqual([false, false, false]);
    rmSync(marker);
    const again = await openPlanSite({ one: "one-way", two: "one-way" });
    await mark(again.sandbox("two"), "commit", "string");
    const second = await failedReport(again.plan.commit({ bestEffort: true }));
    expect(second).toMatchObject({ outcome: "partial", failedId: "two", order: ["one"] });
    expect(published(again, "one", "two")).toEqual([true, false]);
  });
});

describe("a member that can be neither prepared nor undone", () => {
  it("is refused beside others before anything changes (R140)", async () => {
    const site = await openPlanSite({ one: "copy_on_write", two: "one-way" });
    expect((await site.plan.describe()).promise).toMatchObject({
      level: "bestEffort",
      blockers: [{ resourceId: "two" }],
    });
    const error = await failureOf(site.plan.commit());
    expect(error).toMatchObject({ data: { report: { outcome: "refused" } } });
    expect(error.cause).toMatchObject({ code: "ATOMICITY_REFUSED" });
    expect(published(site, "one", "two")).toEqual([false, false]);
  });

  it("is committed after all that can be undone when best effort is allowed (R102, R139)", async () => {
    const site = await openPlanSite({ two: "one-way", one: "copy_on_write" });
    const report = await site.plan.commit({ bestEffort: true });
    expect(report).toMatchObject({ outcome: "committed", atomicity: "bestEffort" });
    expect(report.order).toEqual(["one", "two"]);
    expect(site.site.events.find(({ name }) => name === "plan.notAtomic")).toMatchObject({
      level: "warning",
      data: { blockers: [{ sandboxId: site.sandbox("two").ref.sandboxId }] },
    });
  });

  it("is not attempted when one before it fails (R139)", async () => {
    const site = await openPlanSite({ two: "one-way", one: "two-phase" });
    await mark(site.sandbox("one"), "prepare", "error");
    const report = await failedReport(site.plan.commit({ bestEffort: true }));
    expect(report).toMatchObject({ outcome: "aborted", failedId: "one", notAttempted: ["two"] });
    expect(published(site, "one", "two")).toEqual([false, false]);
  });

  it("is committed only as it was reviewed", async () => {
    const site = await openPlanSite({ two: "one-way" });
    const { digest } = await site.plan.diff();
    await site.sandbox("two").write("later", "not reviewed\n");
    expect(await failedReport(site.plan.commit({ expect: digest }))).toMatchObject({
      outcome: "refused",
      notAttempted: ["two"],
    });
    expect(published(site, "two")).toEqual([false]);
  });

  it("may be alone (R147)", async () => {
    const site = await openPlanSite({ two: "one-way" });
    expect(await site.plan.commit()).toMatchObject({ outcome: "committed", order: ["two"] });
    expect(published(site, "two")).toEqual([true]);
  });
});

it("commits a sandbox without isolation after all that can be undone (R101)", async () => {
  const site = await openPlanSite({ one: "copy_on_write" });
  const inPlace = { resourceId: "in place", type: "fs-directory", location: site.site.data };
  await site.site.coffer.create("plan", inPlace, { strategy: "none" });
  await site.plan.sandbox("in place").write("a", "at once\n");
  const location = `${site.real("one")}-later`;
  mkdirSync(location);
  const late = await site.site.coffer.plan("plan", [
    { id: "later", type: "fs-directory", location, sandboxStrategy: "filesystem_copy" },
  ]);
  const report = await late.commit({ bestEffort: true, only: ["in place", "later"] });
  expect(report.order).toEqual(["later", "in place"]);
});

it("refuses a sandbox without isolation beside another one (R103)", async () => {
  const site = await openPlanSite({ one: "copy_on_write" });
  await site.site.coffer.create(
    "plan",
    { resourceId: "in place", type: "fs-directory", location: site.site.data },
    { strategy: "none" },
  );
  const error = await failureOf(site.plan.commit());
  expect(error.cause).toMatchObject({ code: "ATOMICITY_REFUSED" });
  expect(published(site, "one")).toEqual([false]);
});

it("commits what is open, skips what is done, and says so (R143)", async () => {
  const site = await openPlanSite({ ...THREE, four: "copy_on_write" });
  await site.sandbox("one").commit();
  await site.sandbox("four").rollback();
  const report = await site.plan.commit();
  expect(report.order).toEqual(["two", "three"]);
  expect(report.skipped).toEqual({ one: "COMMITTED", four: "ROLLED_BACK" });
  expect(published(site, "one", "two", "three", "four")).toEqual([true, true, true, false]);
});

it("commits a chosen part of a plan by itself (R150)", async () => {
  const site = await openPlanSite(THREE);
  const marker = await mark(site.sandbox("two"), "fence", "error");
  const report = await failedReport(site.plan.commit({ only: ["one", "two"] }));
  expect(report).toMatchObject({ outcome: "aborted", failedId: "two" });
  expect(published(site, "one", "two", "three")).toEqual([false, false, false]);
  rmSync(marker);
  expect((await site.plan.commit({ only: ["one", "two"] })).order).toEqual(["one", "two"]);
  expect(published(site, "one", "two", "three")).toEqual([true, true, false]);
  expect((await site.plan.commit()).order).toEqual(["three"]);
});

it("refuses a chosen part that the plan does not have, and names it", async () => {
  const site = await openPlanSite({ one: "copy_on_write" });
  const error = await failureOf(site.plan.commit({ only: ["one", "absent"] }));
  expect(error).toMatchObject({ data: { report: { outcome: "refused" } } });
  expect(error.cause).toMatchObject({ code: "SANDBOX_STATE", resourceId: "absent" });
  expect(published(site, "one")).toEqual([false]);
});

it("knows no plan that was never made, and has nothing to do in one that is done (R148)", async () => {
  const site = await openPlanSite({ one: "copy_on_write" });
  const unknown = await site.site.coffer.plan("another");
  expect(await failureOf(unknown.commit())).toMatchObject({
    code: "SANDBOX_STATE",
    data: { reason: "unknownPlan" },
  });
  await site.plan.commit();
  expect(await site.plan.commit()).toMatchObject({
    outcome: "committed",
    order: [],
    skipped: { one: "COMMITTED" },
  });
});

it("applies the change once when two commits run at the same time (R211)", async () => {
  const site = await openPlanSite({ one: "copy_on_write", two: "filesystem_copy" });
  const reports = await Promise.all([site.plan.commit(), site.plan.commit()]);
  expect(new Set(reports.map(({ order }) => order.length))).toEqual(new Set([0, 2]));
  expect(await site.site.coffer.history()).toHaveLength(1);
  expect(published(site, "one", "two")).toEqual([true, true]);
});

it("tells conflicts of one member before anything of another has moved (R145)", async () => {
  const site = await openPlanSite(THREE);
  run("sh", "-c", `echo theirs > "${site.real("three")}/a"`);
  const error = await failureOf(site.plan.commit());
  expect(error).toMatchObject({ data: { report: { outcome: "aborted", failedId: "three" } } });
  expect(error.cause).toMatchObject({ code: "SANDBOX_CONFLICT" });
  expect(published(site, "one", "two")).toEqual([false, false]);
});

it("refuses a plan that cannot be locked before anything of it has moved (R262)", async () => {
  const site = await openPlanSite({ one: "copy_on_write", two: "probe" });
  const lock = run("find", join(site.site.stateDirectory, "plans"), "-name", "lock").trim();
  rmSync(lock);
  mkdirSync(lock);
  const report = await failedReport(site.plan.commit());
  expect(report).toMatchObject({
    outcome: "refused",
    transaction: null,
    order: [],
    failedId: null,
  });
  expect(published(site, "one", "two")).toEqual([false, false]);
  rmdirSync(lock);
  expect(await site.plan.commit()).toMatchObject({ outcome: "committed" });
  expect(published(site, "one", "two")).toEqual([true, true]);
});
