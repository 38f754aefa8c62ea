import { AtomicCommitError } from "cofferdam";
import { describe, expect, it } from "vitest";
import { useServer } from "./server.ts";
import { type Member, Trio } from "./trio.ts";

const served = useServer();

const all = (state: string): Record<Member, string> => ({
  directory: state,
  git: state,
  bucket: state,
});

const ORDERS: readonly (readonly Member[])[] = [
  ["bucket", "directory", "git"],
  ["directory", "bucket", "git"],
  ["directory", "git", "bucket"],
];

describe.each(ORDERS)("a plan over %s, %s and %s", (...order) => {
  it("is committed, taken back, checkpointed and restored as one", async () => {
    const trio = await Trio.make(served());
    const { buckets } = served();
    const history = await buckets.history(trio.bucket);
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam, order);
    await plan.checkpoint("new");
    for (const id of order) await plan.sandbox(id).write("page", "later\n");
    await plan.restoreCheckpoint("new");
    expect((await plan.commit()).outcome).toBe("committed");
    expect(await trio.states()).toEqual(all("new"));
    await plan.undo();
    expect(await trio.states()).toEqual(all("old"));
    expect(await buckets.history(trio.bucket)).toEqual(history);
    await plan.commit();
    await plan.cleanup();
    expect(await trio.states()).toEqual(all("new"));
    expect(await buckets.uploads(trio.bucket)).toEqual([]);
  });

  it.each(order)("changes nothing when %s fails", async (failing) => {
    const trio = await Trio.make(served());
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam, order);
    await trio.disturb(failing);
    const committing = plan.commit();
    await expect(committing).rejects.toBeInstanceOf(AtomicCommitError);
    await expect(committing).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: failing } },
    });
    expect(await trio.states()).toEqual({ ...all("old"), [failing]: "foreign\n" });
    expect(await served().buckets.uploads(trio.bucket)).toEqual([]);
    await plan.cleanup();
  });

  it("is forked, and whoever commits second finds a conflict", async () => {
    const trio = await Trio.make(served());
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam, order);
    const fork = await plan.fork("fork");
    await fork.commit();
    expect(await trio.states()).toEqual(all("new"));
    await expect(plan.commit()).rejects.toMatchObject({
      data: { report: { outcome: "aborted" } },
    });
  });
});
