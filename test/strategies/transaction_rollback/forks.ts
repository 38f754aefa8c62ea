import { expect } from "vitest";
import type { Cofferdam, Plan } from "../../../src/index.ts";
import { rowsOf } from "./fixture.ts";

/** What a test of forks needs of a database whose table `items` holds the name `one` under the id 1. */
export interface ForkGround {
  /** Opens another instance, as another process would. */
  open(): Promise<Cofferdam>;
  readonly resourceId: string;
  /** A query for all names of `items`, sorted, with commas between them, as `names`. */
  readonly names: string;
  /** The names that the database's own client finds, sorted. */
  real(): string[];
}

/** Forks a plan from its present state and from a checkpoint; one fork is committed and taken back, the other refused. */
export async function expectForks(first: Plan, ground: ForkGround): Promise<void> {
  const { resourceId } = ground;
  const write = (plan: Plan, script: string): Promise<unknown> =>
    plan.sandbox(resourceId).write("script", script);
  const names = async (plan: Plan): Promise<unknown> =>
    rowsOf(await plan.sandbox(resourceId).read(ground.names));
  await write(first, "UPDATE items SET name = 'first' WHERE id = 1");
  await first.checkpoint("kept");
  await write(first, "INSERT INTO items (name) VALUES ('b')");
  const [now, past] = [await first.fork("now"), await first.fork("past", { from: "kept" })];
  expect(await names(now)).toEqual([{ names: "b,first" }]);
  expect(await names(past)).toEqual([{ names: "first" }]);
  expect((await now.diff()).resources[resourceId]?.digest).toBe(
    (await first.diff()).resources[resourceId]?.digest,
  );
  await write(now, "INSERT INTO items (name) VALUES ('c')");
  await write(past, "UPDATE items SET name = 'past' WHERE id = 1");
  expect(await names(first)).toEqual([{ names: "b,first" }]);
  await first.cleanup({ force: true });
  await using other = await ground.open();
  const continued = await other.plan("now");
  expect(await names(continued)).toEqual([{ names: "b,c,first" }]);
  await continued.commit();
  expect(ground.real()).toEqual(["b", "c", "first"]);
  await expect(past.commit()).rejects.toMatchObject({
    code: "ATOMIC_COMMIT",
    cause: { code: "SANDBOX_CONFLICT", data: { conflicts: [{ reason: "changed" }] } },
  });
  expect(ground.real()).toEqual(["b", "c", "first"]);
  await continued.rollback();
  expect(ground.real()).toEqual(["one"]);
  await past.commit();
  expect(ground.real()).toEqual(["past"]);
  for (const plan of [continued, past]) await plan.cleanup();
}
