import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { failureOf } from "../failure.ts";
import { mark, privateFolder, run } from "../site.ts";
import { isPublished, openPlanSite, type PlanSite } from "./plan-site.ts";

const THREE = { one: "filesystem_copy", two: "two-phase", three: "copy_on_write" };

const published = (site: PlanSite, ...ids: string[]): boolean[] =>
  ids.map((id) => isPublished(site, id));

it("takes a plan's commit back as a whole, keeps the edits, and commits again (R149)", async () => {
  const site = await openPlanSite(THREE);
  await site.plan.commit();
  const report = await site.plan.undo();
  expect(report).toMatchObject({ succeeded: ["three", "two", "one"], failed: {}, skipped: {} });
  expect(published(site, "one", "two", "three")).toEqual([false, false, false]);
  expect((await site.plan.commit()).order).toEqual(["one", "two", "three"]);
  expect(published(site, "one", "two", "three")).toEqual([true, true, true]);
});

it("takes nothing back when somebody edited one of the resources since, and names the path", async () => {
  const site = await openPlanSite(THREE);
  await site.plan.commit();
  writeFileSync(join(site.real("one"), "a"), "theirs\n");
  expect(await failureOf(site.plan.undo())).toMatchObject({
    code: "SANDBOX_ROLLBACK",
    data: { reason: "foreignEdits", paths: ["a"] },
  });
  expect(run("cat", join(site.real("one"), "a"))).toBe("theirs\n");
  expect(published(site, "two", "three")).toEqual([true, true]);
  const statuses = (await site.plan.describe()).sandboxes.map(({ status }) => status);
  expect(statuses).toEqual(["COMMITTED", "COMMITTED", "COMMITTED"]);
});

it("takes nothing back when one member fails in the middle of an undo", async () => {
  const site = await openPlanSite(THREE);
  await site.plan.commit();
  const marker = await mark(site.sandbox("two"), "apply", "error");
  expect(await failureOf(site.plan.undo())).toMatchObject({ code: "SANDBOX_ROLLBACK" });
  expect(published(site, "one", "two", "three")).toEqual([true, true, true]);
  rmSync(marker);
  await site.plan.undo();
  expect(published(site, "one", "two", "three")).toEqual([false, false, false]);
});

it("rolls back what is committed, edited or untouched (R153)", async () => {
  const site = await openPlanSite(THREE);
  await site.sandbox("one").commit();
  await site.site.coffer.create(
    "plan",
    { resourceId: "four", type: "fs-directory", location: site.site.data },
    { strategy: "copy_on_write" },
  );
  const report = await site.plan.rollback();
  expect(report.failed).toEqual({});
  expect(report.succeeded.toSorted()).toEqual(["four", "one", "three", "two"]);
  expect(published(site, "one", "two", "three")).toEqual([false, false, false]);
  const { sandboxes } = await site.plan.describe();
  expect(new Set(sandboxes.map(({ status }) => status))).toEqual(new Set(["ROLLED_BACK"]));
  const again = await site.plan.rollback();
  expect([again.succeeded, Object.keys(again.skipped)]).toEqual([
    [],
    ["four", "three", "two", "one"],
  ]);
});

it("takes commits back in the reverse order, then resources before what they contain (R156)", async () => {
  const strategies = { a: "two-phase", b: "two-phase", c: "copy_on_write", d: "probe" };
  const site = await openPlanSite(strategies, { d: ["c"] });
  await site.plan.commit({ only: ["b"] });
  await site.plan.commit({ only: ["a"] });
  expect((await site.plan.rollback()).succeeded).toEqual(["a", "b", "c", "d"]);
  const told = site.site.events.filter(({ name }) => name === "sandbox.rolledBack");
  const order = told.map(({ data }) => data["sandboxId"]);
  expect(order).toEqual(["a", "b", "c", "d"].map((id) => site.sandbox(id).ref.sandboxId));
});

it("rolls back resources that are said to contain each other", async () => {
  const site = await openPlanSite(
    { a: "copy_on_write", b: "copy_on_write" },
    { a: ["b"], b: ["a"] },
  );
  expect((await site.plan.rollback()).succeeded).toEqual(["b", "a"]);
});

it("goes on after a rollback that throws whatever it likes (R154)", async () => {
  const site = await openPlanSite({ one: "copy_on_write", two: "probe", three: "copy_on_write" });
  await mark(site.sandbox("two"), "rollback", "undefined");
  const report = await site.plan.rollback();
  expect(report.succeeded).toEqual(["three", "one"]);
  expect(report.failed).toMatchObject({ two: { code: "SANDBOX_ROLLBACK" } });
});

it("reports a committed sandbox that cannot be taken back as failed (R155)", async () => {
  const site = await openPlanSite({ one: "copy_on_write", two: "one-way" });
  await site.plan.commit({ bestEffort: true });
  const report = await site.plan.rollback();
  expect(report.succeeded).toEqual(["one"]);
  expect(report.failed).toMatchObject({ two: { data: { reason: "notUndoable" } } });
  expect(published(site, "one", "two")).toEqual([false, true]);
});

it("changes nothing when everything is rolled back already (R157)", async () => {
  const site = await openPlanSite(THREE);
  await site.plan.rollback();
  const report = await site.plan.rollback();
  expect(report).toMatchObject({ succeeded: [], failed: {} });
  expect(published(site, "one", "two", "three")).toEqual([false, false, false]);
});

it("cleans up what it can, reports the rest, and finishes it later (R158, R159)", async () => {
  const site = await openPlanSite({ one: "probe", two: "copy_on_write", three: "probe" });
  const folders = ["one", "three"].map((id) => privateFolder(site.sandbox(id)));
  const marker = await mark(site.sandbox("three"), "cleanup", "string");
  const report = await site.plan.cleanup();
  expect(report.succeeded).toEqual(["two", "one"]);
  expect(Object.keys(report.failed)).toEqual(["three"]);
  expect(folders.map((folder) => existsSync(folder))).toEqual([false, true]);
  expect((await site.plan.describe()).sandboxes).toHaveLength(1);
  rmSync(marker);
  expect(await site.plan.cleanup()).toMatchObject({ succeeded: ["three"], failed: {} });
  expect(readdirSync(join(site.site.stateDirectory, "plans"))).toEqual([]);
});

it("rolls nothing back of what is committed when one of it cannot be, and reports each (R262)", async () => {
  const site = await openPlanSite({ one: "copy_on_write", two: "two-phase", three: "probe" });
  await site.plan.commit({ only: ["one", "two"] });
  const marker = await mark(site.sandbox("two"), "apply", "error");
  const report = await site.plan.rollback();
  expect(report.succeeded).toEqual(["three"]);
  expect(report.failed).toMatchObject({
    one: { code: "SANDBOX_ROLLBACK" },
    two: { code: "SANDBOX_ROLLBACK" },
  });
  expect(published(site, "one", "two")).toEqual([true, true]);
  rmSync(marker);
  expect(await site.plan.rollback()).toMatchObject({ failed: {} });
  expect(published(site, "one", "two")).toEqual([false, false]);
});
