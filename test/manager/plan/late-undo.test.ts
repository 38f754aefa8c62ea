import { expect, it } from "vitest";
import { failureOf } from "../failure.ts";
import { NEW, OLD, type LedgerSite, openLedgerSite } from "./ledger-site.ts";

async function committedSite(): Promise<LedgerSite> {
  const site = await openLedgerSite({ tree: "two-phase", book: "undoable" });
  await site.plan.commit();
  return site;
}

it("takes a member that cannot prepare back together with the others", async () => {
  const { plan, rows, file } = await committedSite();
  expect([rows("book"), file("tree")]).toEqual([NEW, "new"]);
  await plan.undo();
  expect([rows("book"), file("tree")]).toEqual([OLD, "old"]);
  expect(await plan.commit()).toMatchObject({ outcome: "committed" });
});

it("moves nothing when such a member refuses its undo", async () => {
  const { plan, rows, file, mark, site } = await committedSite();
  const clear = mark("book", "undo", "refused");
  expect(await failureOf(plan.undo())).toMatchObject({
    code: "SANDBOX_ROLLBACK",
    data: { reason: "foreignEdits" },
  });
  expect([rows("book"), file("tree")]).toEqual([NEW, "new"]);
  const { sandboxes } = await plan.describe();
  expect(sandboxes.map(({ status }) => status)).toEqual(["COMMITTED", "COMMITTED"]);
  expect(await site.coffer.recover()).toMatchObject({ transactions: [], complete: true });
  clear();
  await plan.undo();
  expect([rows("book"), file("tree")]).toEqual([OLD, "old"]);
});

it("moves nothing when another member refuses before the decision", async () => {
  const { plan, rows, file, mark } = await committedSite();
  mark("tree", "prepare", "error");
  expect(await failureOf(plan.undo())).toMatchObject({ code: "SANDBOX_ROLLBACK" });
  expect([rows("book"), file("tree")]).toEqual([NEW, "new"]);
});

it.each([
  ["such a member fails and nobody knows how far it came", "book", "undo"],
  ["another member fails after it", "tree", "apply"],
])("is finished by recovery when %s", async (_, id, step) => {
  const { plan, rows, file, mark, site } = await committedSite();
  const clear = mark(id, step, "error");
  expect(await failureOf(plan.undo())).toMatchObject({ code: "SANDBOX_ROLLBACK" });
  expect(await site.coffer.recover()).toMatchObject({ complete: false });
  clear();
  expect(await site.coffer.recover()).toMatchObject({ complete: true });
  expect([rows("book"), file("tree")]).toEqual([OLD, "old"]);
  const { sandboxes } = await plan.describe();
  expect(sandboxes.map(({ status }) => status)).toEqual(["ACTIVE", "ACTIVE"]);
});
