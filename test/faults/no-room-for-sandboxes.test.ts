import { join } from "node:path";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  type FaultPoint,
  type TracedProgram,
  faultPoints,
  runWithFault,
} from "../support/faults.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import type { Operation, Told } from "./order.ts";
import { type Place, makePlace, openPlace } from "./place.ts";

const STRATEGIES = ["overlay", "copy_on_write"];

function sandboxesOf({ state }: Place): string {
  return join(state, "area/sandboxes");
}

/** The operation in a program of its own; only calls in the folder of all sandboxes count. */
function traced(place: Place, operation: Operation): TracedProgram {
  return {
    program: new URL("./programs/operate.ts", import.meta.url),
    args: [JSON.stringify({ state: place.state, ...operation })],
    touching: [sandboxesOf(place)],
  };
}

/** A place in which one sandbox was made and freed, so that everything is there but no sandbox. */
async function usedPlace(): Promise<Place> {
  const place = makePlace("echo one > a; mkdir d; echo two > d/b");
  await using coffer = await openPlace(place);
  await coffer.sandbox(await coffer.create("first", place.real)).cleanup();
  return place;
}

/** The call that makes the own folder of a sandbox; the same in every place. */
async function makingOf(place: Place, operation: Operation): Promise<FaultPoint> {
  const points = await faultPoints(traced(place, operation));
  const made = points.find(
    ({ call, paths }) => call.startsWith("mkdir") && /area\/sandboxes\/[^/]+$/.test(paths[0] ?? ""),
  );
  if (made === undefined) throw new Error("no folder for a sandbox is made");
  return made;
}

it("refuses to make a sandbox where a file stands in the place of the storage (R262)", async () => {
  const place = await usedPlace();
  const folder = sandboxesOf(place);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "");
  await using coffer = await openPlace(place);
  await expect(coffer.create("plan", place.real)).rejects.toMatchObject({
    code: "SANDBOX_CREATION",
    data: { stage: "storage" },
  });
  expect(await coffer.list()).toEqual([]);
  rmSync(folder);
  await coffer.sandbox(await coffer.create("plan", place.real)).cleanup();
});

it.each(STRATEGIES)(
  "names what is left of a sandbox of %s whose making failed and could not be taken back (R262)",
  async (strategy) => {
    const creationAt = ({ real }: Place): Operation => ({
      operation: "create",
      planId: "plan",
      resource: { resourceId: "real", type: "fs-directory", location: real },
      strategy,
    });
    const twin = await usedPlace();
    const { at } = await makingOf(twin, creationAt(twin));
    const place = await usedPlace();
    const old = takeOracle(place.real);
    // The sandbox's own folder is made, and from then on the disk takes nothing any more.
    const fault = { error: "EIO", lasting: true } as const;
    const run = await runWithFault(traced(place, creationAt(place)), { at: at + 1 }, fault);
    expect(run.fired).toBe(true);
    const { error } = JSON.parse(run.stdout) as Told;
    const [left = ""] = readdirSync(sandboxesOf(place));
    expect(error).toMatchObject({
      code: "SANDBOX_CREATION",
      data: { residue: [join(sandboxesOf(place), left)] },
    });
    expectOracleEqual(old, takeOracle(place.real));
    // What nobody owns is taken away by the next one.
    await using coffer = await openPlace(place);
    expect(await coffer.list()).toEqual([]);
    expect(readdirSync(sandboxesOf(place))).toEqual([]);
  },
);

/** A place with a plan in which a file was edited. */
async function edited(): Promise<Place> {
  const place = await usedPlace();
  await using coffer = await openPlace(place);
  const plan = await coffer.plan("plan", [place.real]);
  await plan.sandbox("real").write("a", "edited\n");
  return place;
}

it("refuses a fork for which there is no room beside the other sandbox (R262)", async () => {
  const operation = { operation: "plan.fork", planId: "plan", name: "other" } as const;
  const point = await makingOf(await edited(), operation);
  const place = await edited();
  const run = await runWithFault(traced(place, operation), point, { error: "ENOSPC" });
  expect(run.fired).toBe(true);
  expect(JSON.parse(run.stdout)).toMatchObject({
    outcome: "failed",
    error: { code: "SANDBOX_CREATION", data: { stage: "storage" } },
  });
  await using coffer = await openPlace(place);
  const plan = await coffer.plan("plan");
  const other = await plan.fork("other");
  expect((await other.sandbox("real").read("a")).toString()).toBe("edited\n");
  await other.cleanup({ force: true });
  await plan.cleanup({ force: true });
});
