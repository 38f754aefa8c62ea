import { expect, it } from "vitest";
import { failureOf } from "../failure.ts";
import { NEW, OLD, openLedgerSite } from "./ledger-site.ts";

/** What a plan over resources with these strategies promises. */
async function promiseOf(...names: string[]) {
  const { plan } = await openLedgerSite(
    Object.fromEntries(names.map((name, at) => [`r${at}`, name])),
  );
  return (await plan.describe()).promise;
}

it("promises all or nothing with one member whose own commit is the decision, and names it", async () => {
  expect(await promiseOf("two-phase", "deciding")).toEqual({
    level: "lastResource",
    lastResource: ["r1"],
    blockers: [],
  });
});

it("promises best effort where two commits would both be the decision", async () => {
  const crowd = await promiseOf("deciding", "deciding", "two-phase");
  expect(crowd).toMatchObject({ level: "bestEffort", blockers: [{ resourceId: "r1" }] });
  const groups = await promiseOf("deciding", "queue");
  expect(groups).toMatchObject({ level: "bestEffort", blockers: [{ resourceId: "r1" }] });
  expect(await promiseOf("queue", "queue")).toMatchObject({ level: "lastResource" });
});

it("asks a strategy what it promises for each sandbox, and expects nothing where it cannot tell", async () => {
  const { plan, rows } = await openLedgerSite({ main: "choosy", other: "choosy" });
  const { promise } = await plan.describe();
  expect(promise).toEqual({ level: "lastResource", lastResource: ["main"], blockers: [] });
  expect(await plan.commit()).toMatchObject({ outcome: "committed", atomicity: "atomic" });
  expect([rows("main"), rows("other")]).toEqual([NEW, NEW]);
  await plan.undo();
  expect([rows("main"), rows("other")]).toEqual([OLD, OLD]);
  const unsure = await openLedgerSite({ main: "choosy", broken: "choosy" });
  expect((await unsure.plan.describe()).promise).toMatchObject({
    level: "bestEffort",
    blockers: [{ resourceId: "broken" }],
  });
});

it("commits and takes back a plan whose last member decides", async () => {
  const { plan, rows, file, site } = await openLedgerSite({ book: "deciding", tree: "two-phase" });
  const report = await plan.commit();
  expect(report).toMatchObject({ outcome: "committed", atomicity: "atomic" });
  expect([rows("book"), file("tree")]).toEqual([NEW, "new"]);
  expect(report.results["book"]).toMatchObject({ changed: ["apples"], added: ["plums"] });
  await plan.undo();
  expect([rows("book"), file("tree")]).toEqual([OLD, "old"]);
  expect(await plan.commit()).toMatchObject({ outcome: "committed" });
  await plan.rollback();
  expect([rows("book"), file("tree")]).toEqual([OLD, "old"]);
  expect(await site.coffer.recover()).toMatchObject({ transactions: [], complete: true });
});

it("changes nothing when an earlier member cannot prepare, and the decider was not asked", async () => {
  const { plan, rows, file, mark } = await openLedgerSite({ book: "deciding", tree: "two-phase" });
  const clear = mark("tree", "prepare", "error");
  expect(await failureOf(plan.commit())).toMatchObject({
    data: { report: { outcome: "aborted", failedId: "tree" } },
  });
  expect([rows("book"), file("tree")]).toEqual([OLD, "old"]);
  clear();
  expect(await plan.commit()).toMatchObject({ outcome: "committed" });
});

it("gives everybody up when the decider finds a conflict, and commits once it is gone", async () => {
  const site = await openLedgerSite({ tree: "two-phase", book: "deciding" });
  site.disturb("book", { apples: "somebody else's" });
  const error = await failureOf(site.plan.commit());
  expect(error).toMatchObject({
    code: "ATOMIC_COMMIT",
    data: { report: { outcome: "aborted", failedId: "book" } },
  });
  expect(error.cause).toMatchObject({ code: "SANDBOX_CONFLICT" });
  expect(site.file("tree")).toBe("old");
  site.disturb("book", OLD);
  expect(await site.plan.commit()).toMatchObject({ outcome: "committed" });
  expect([site.rows("book"), site.file("tree")]).toEqual([NEW, "new"]);
});

it("believes what was decided, not the error of the call that decided it", async () => {
  const { plan, rows, file, mark } = await openLedgerSite({ tree: "two-phase", book: "deciding" });
  mark("book", "decide", "error", "half");
  expect(await plan.commit()).toMatchObject({ outcome: "committed" });
  expect([rows("book"), file("tree")]).toEqual([NEW, "new"]);
});

it.each([
  ["and it was made", ["error", "half"], NEW, "new", "committed"],
  ["and it was not made", ["error"], OLD, "old", "aborted"],
] as const)(
  "is in doubt while nobody can ask for the decision, %s",
  async (_, words, rowsAfter, fileAfter, outcome) => {
    const { plan, rows, file, mark, site } = await openLedgerSite({
      tree: "two-phase",
      book: "deciding",
    });
    const clears = [mark("book", "decide", ...words), mark("book", "decided", "error")];
    expect(await failureOf(plan.commit())).toMatchObject({
      data: { report: { outcome: "in-doubt", failedId: "book" } },
    });
    expect(file("tree")).toBe("old");
    const stuck = await site.coffer.recover();
    expect(stuck).toMatchObject({ complete: false, transactions: [{ outcome: "failed" }] });
    for (const clear of clears) clear();
    expect(await site.coffer.recover()).toMatchObject({
      complete: true,
      transactions: [{ outcome }],
    });
    expect([rows("book"), file("tree")]).toEqual([rowsAfter, fileAfter]);
  },
);

it("is pending, and names the member, when one cannot be applied after another has decided", async () => {
  const { plan, rows, file, mark, site } = await openLedgerSite({
    tree: "two-phase",
    other: "copy_on_write",
    book: "deciding",
  });
  const clear = mark("tree", "apply", "error");
  const report = await plan.commit();
  expect(report).toMatchObject({ outcome: "committed-pending", failedId: "tree" });
  expect([rows("book"), file("other"), file("tree")]).toEqual([NEW, "new", "old"]);
  expect(await site.coffer.recover()).toMatchObject({ complete: false });
  clear();
  expect(await site.coffer.recover()).toMatchObject({
    complete: true,
    transactions: [{ outcome: "committed" }],
  });
  expect(file("tree")).toBe("new");
  await plan.undo();
  expect([rows("book"), file("other"), file("tree")]).toEqual([OLD, "old", "old"]);
});

it("never says that an undo is in place when one cannot be applied after another has decided", async () => {
  const { plan, rows, file, mark, site } = await openLedgerSite({
    tree: "two-phase",
    other: "copy_on_write",
    book: "deciding",
  });
  await plan.commit();
  const clear = mark("tree", "apply", "error");
  expect(await failureOf(plan.undo())).toMatchObject({
    code: "SANDBOX_ROLLBACK",
    data: { originalRestored: false },
  });
  expect([rows("book"), file("other"), file("tree")]).toEqual([OLD, "old", "new"]);
  clear();
  expect(await site.coffer.recover()).toMatchObject({ complete: true });
  expect([rows("book"), file("other"), file("tree")]).toEqual([OLD, "old", "old"]);
  expect(await plan.commit()).toMatchObject({ outcome: "committed" });
});

it("commits a second decider apart, and only if best effort is allowed", async () => {
  const { plan, rows, file, disturb } = await openLedgerSite({
    first: "deciding",
    second: "deciding",
    tree: "two-phase",
  });
  expect(await failureOf(plan.commit())).toMatchObject({
    data: { report: { outcome: "refused" } },
    cause: { code: "ATOMICITY_REFUSED" },
  });
  disturb("second", { apples: "somebody else's" });
  expect(await failureOf(plan.commit({ bestEffort: true }))).toMatchObject({
    data: { report: { outcome: "partial", failedId: "second" } },
  });
  expect([rows("first"), file("tree")]).toEqual([NEW, "new"]);
  disturb("second", OLD);
  expect(await plan.commit({ bestEffort: true })).toMatchObject({ outcome: "committed" });
  expect(rows("second")).toEqual(NEW);
});
