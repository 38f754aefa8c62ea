import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { AtomicCommitError } from "../../../src/index.ts";
import { takeOracle } from "../../support/oracle.ts";
import { act, startActing } from "../act.ts";
import { failureOf } from "../failure.ts";
import { listing, mark, openSite, reopenSite, run } from "../site.ts";
import { until } from "../until.ts";
import { end, startOwner } from "./owner.ts";
import { isPublished, openPlanSite } from "./plan-site.ts";

it("lets a new process list and commit what a killed one has made (R128)", async () => {
  const site = await openSite();
  await site.coffer.close();
  await end(await startOwner(site, "orphan"), "SIGKILL");
  const { stateDirectory } = site;
  const [listed] = (await act({ options: { stateDirectory }, calls: [["list"]] })).results;
  expect(listed).toMatchObject([{ ref: { planId: "orphan" }, status: "ACTIVE", sequence: 1 }]);
  const { coffer } = await reopenSite(site);
  expect(await (await coffer.plan("orphan")).commit()).toMatchObject({ order: ["tree"] });
  expect(readFileSync(join(site.data, "a"), "utf8")).toBe("of orphan\n");
});

it("leaves nothing of a plan but what it committed (R160)", async () => {
  const site = await openPlanSite({
    layers: "overlay",
    blocks: "copy_on_write",
    bytes: "filesystem_copy",
  });
  const { stateDirectory } = site.site;
  const mounts = (): string => readFileSync("/proc/self/mountinfo", "utf8");
  for (const id of ["layers", "blocks", "bytes"]) {
    await site.sandbox(id).checkpoint("kept");
    await site.sandbox(id).getPath();
  }
  await site.plan.commit();
  const oracles = (): unknown[] =>
    ["layers", "blocks", "bytes"].map((id) => takeOracle(site.real(id)));
  const published = oracles();
  const { failed } = await site.plan.cleanup();
  expect(failed).toEqual({});
  expect(mounts()).not.toContain(stateDirectory);
  await site.site.coffer.close();
  const left = listing(stateDirectory).filter((line) => !/^done\/\S+\.json f /.test(line));
  expect(left.map((line) => line.split(" ", 1)[0])).toEqual([
    "area",
    "area/sandboxes",
    "areas.json",
    "areas.lock",
    "done",
    "install.json",
    "owners",
    "plans",
    "tx",
  ]);
  expect(oracles()).toEqual(published);
});

it("shows all sandboxes as they are at one moment, whatever is written meanwhile", async () => {
  const { plan, sandbox } = await openPlanSite({ one: "copy_on_write", two: "copy_on_write" });
  const [diff] = await Promise.all([
    plan.diff(),
    sandbox("one").write("late", "late\n"),
    sandbox("two").write("late", "late\n"),
  ]);
  const hasLate = ["one", "two"].map((id) =>
    diff.resources[id]?.changes.some(({ path }) => path === "late"),
  );
  expect(hasLate[0]).toBe(hasLate[1]);
  expect((await plan.diff()).digest).not.toBe(diff.digest);
});

it("commits by what a sandbox is when its turn comes, not by what it was when it was asked (R144)", async () => {
  const site = await openPlanSite({ one: "two-phase", two: "copy_on_write" });
  const { stateDirectory } = site.site;
  const marker = await mark(site.sandbox("one"), "rollback", "wait");
  const other = await startActing({
    options: { stateDirectory },
    ref: site.sandbox("one").ref,
    calls: [["rollback"]],
  });
  await until(() => run("cat", ...recordsOf(stateDirectory)).includes('"ROLLING_BACK"'));
  const commit = site.plan.commit();
  rmSync(marker);
  expect((await other.result).code).toBe(0);
  expect(await commit).toMatchObject({ order: ["two"], skipped: { one: "ROLLED_BACK" } });
  expect([isPublished(site, "one"), isPublished(site, "two")]).toEqual([false, true]);
});

it("tells of a failed commit what became of every member, as it is on disk (R134)", async () => {
  const site = await openPlanSite({
    back: "probe",
    stuck: "probe",
    failing: "two-phase",
    late: "filesystem_copy",
    stale: "two-phase",
  });
  const { sandbox, plan } = site;
  const empty = join(site.site.data, "..", "empty");
  mkdirSync(empty);
  await site.site.coffer.plan("plan", [{ id: "empty", type: "fs-directory", location: empty }]);
  await plan.commit({ only: ["stale"] });
  await mark(sandbox("stale"), "rollback", "error");
  await sandbox("stale").rollback();
  await mark(sandbox("stuck"), "undo", "error");
  await mark(sandbox("failing"), "apply", "error");
  const error = await failureOf(plan.commit());
  expect(error).toBeInstanceOf(AtomicCommitError);
  const { report } = (error as AtomicCommitError).data;
  expect(report).toMatchObject({
    outcome: "in-doubt",
    atomicity: "atomic",
    order: ["back", "stuck"],
    failedId: "failing",
    cause: expect.any(String) as string,
    rolledBack: ["failing", "back"],
    rollbackNoop: ["empty"],
    notAttempted: ["late"],
    skipped: { stale: "ROLLED_BACK" },
    workspaceStale: ["stale"],
  });
  const { stuck } = report.rollbackFailed;
  expect(stuck?.reason).toContain("undo");
  expect(existsSync(stuck?.undoDataAt ?? "")).toBe(true);
  expect(stuck?.undoDataAt).toContain(report.transaction ?? "no transaction");
  const onDisk = ["back", "stuck", "failing", "late"].map((id) => isPublished(site, id));
  expect(onDisk).toEqual([false, true, false, false]);
});

it("tells while a commit goes on how far it is, and that it is decided", async () => {
  const site = await openPlanSite({ one: "overlay", two: "copy_on_write" });
  const { events } = site.site;
  events.length = 0;
  const { transaction } = await site.plan.commit();
  const told = events.map(({ name, data }) => {
    const { phase, done } = data;
    return phase === undefined ? name : `${name} ${JSON.stringify([phase, done])}`;
  });
  expect(told).toEqual([
    'plan.advanced ["prepare",1]',
    'plan.advanced ["prepare",2]',
    "plan.prepared",
    "plan.decided",
    'plan.advanced ["apply",1]',
    'plan.advanced ["apply",2]',
    "sandbox.committed",
    "sandbox.committed",
    "plan.committed",
  ]);
  const about = { planId: "plan", transaction, kind: "commit", members: 2 };
  expect(events.find(({ name }) => name === "plan.decided")?.data).toEqual(about);
});

function recordsOf(stateDirectory: string): string[] {
  const found = run("find", join(stateDirectory, "plans"), "-path", "*/sandboxes/*.json");
  return found.trim().split("\n");
}
