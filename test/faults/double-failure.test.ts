import { existsSync } from "node:fs";
import { expect, it } from "vitest";
import { type ErrorJson, type SandboxRef, SandboxCleanupError } from "../../src/index.ts";
import { type TracedProgram, faultPoints, runWithFault } from "../support/faults.ts";
import { type Oracle, expectOracleEqual, takeOracle } from "../support/oracle.ts";
import type { Order, Told } from "./order.ts";
import { type Place, makePlace, openPlace, shell } from "./place.ts";

const PROGRAM = new URL("./programs/operate.ts", import.meta.url);
const OLD = ["a", "b", "c"].map((name) => `${name} as it was\n`);

interface Failed {
  readonly place: Place;
  readonly ref: SandboxRef;
  readonly before: Oracle;
  readonly undoDataAt: string;
}

/** A commit whose real directory cannot be changed any more after two of its files were. */
async function failTwice(): Promise<Failed> {
  const { place, ref } = await edited();
  const before = takeOracle(place.real);
  const points = await faultPoints(await tracedAnew());
  const third = points.filter(({ call }) => call === "renameat2")[2];
  const fault = { error: "EROFS", lasting: true } as const;
  const run = await runWithFault(traced(place, ref), { at: third?.at ?? 0 }, fault);
  expect(run).toMatchObject({ fired: true, code: 0 });
  const { outcome, error } = JSON.parse(run.stdout) as Told;
  expect(outcome).toBe("failed");
  expect(error).toMatchObject({ code: "SANDBOX_COMMIT", data: { originalRestored: false } });
  const { undoDataAt } = (error as ErrorJson).data as { readonly undoDataAt: string };
  return { place, ref, before, undoDataAt };
}

async function edited(): Promise<{ place: Place; ref: SandboxRef }> {
  const place = makePlace('for name in a b c; do echo "$name as it was" > $name.txt; done');
  await using coffer = await openPlace(place);
  const ref = await coffer.create("plan", place.real);
  for (const name of ["a", "b", "c"]) await coffer.sandbox(ref).write(`${name}.txt`, "edited\n");
  return { place, ref };
}

async function tracedAnew(): Promise<TracedProgram> {
  const { place, ref } = await edited();
  return traced(place, ref);
}

function traced({ state, real }: Place, ref: SandboxRef): TracedProgram {
  const order: Order = { state, operation: "commit", ref };
  return { program: PROGRAM, args: [JSON.stringify(order)], touching: [real] };
}

it("keeps what is needed to bring the resource back, says where it lies, and recovers (R29)", async () => {
  const { place, ref, before, undoDataAt } = await failTwice();
  expect(existsSync(undoDataAt)).toBe(true);
  const kept = shell(place.folder, `cat real/*.txt; find '${undoDataAt}' -type f -exec cat {} +`);
  for (const content of OLD) expect(kept).toContain(content);
  {
    await using coffer = await openPlace(place, { recover: "report" });
    expect(await coffer.status(ref)).toBe("ERRORED");
    expect((await coffer.describe(ref)).lastError).toMatchObject({ data: { undoDataAt } });
    expect(coffer.opening.interrupted.transactions).toHaveLength(1);
    expect(await coffer.recover()).toMatchObject({ complete: true });
    expectOracleEqual(before, takeOracle(place.real));
    expect(await coffer.status(ref)).toBe("ACTIVE");
  }
  await using coffer = await openPlace(place);
  await coffer.sandbox(ref).commit();
  expect(shell(place.real, "cat a.txt b.txt c.txt")).toBe("edited\nedited\nedited\n");
  await coffer.sandbox(ref).cleanup();
});

it("refuses to clean the only good copy up, names it, and gives it up by force (R164)", async () => {
  const { place, ref, undoDataAt } = await failTwice();
  const mixture = takeOracle(place.real);
  {
    await using coffer = await openPlace(place, { recover: "report" });
    const refused: unknown = await coffer
      .sandbox(ref)
      .cleanup()
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(SandboxCleanupError);
    expect(refused).toMatchObject({ data: { remaining: [undoDataAt] } });
    expect(existsSync(undoDataAt)).toBe(true);
    expect(await coffer.status(ref)).toBe("ERRORED");
  }
  await forceUnchangeable(place, ref);
  expect(existsSync(undoDataAt)).toBe(false);
  {
    await using coffer = await openPlace(place);
    expect(await coffer.status(ref)).toBe("PENDING");
  }
  expectOracleEqual(mixture, takeOracle(place.real));
  expect(shell(place.state, "find area/sandboxes tx plans")).toBe("area/sandboxes\ntx\nplans\n");
});

/** Cleans up by force while nothing in the real directory can be changed, so that nothing can be settled. */
async function forceUnchangeable({ state, real }: Place, ref: SandboxRef): Promise<void> {
  const order: Order = { state, operation: "cleanup", ref, force: true, recover: "report" };
  const program = { program: PROGRAM, args: [JSON.stringify(order)], touching: [real] };
  const run = await runWithFault(program, { at: 1 }, { error: "EROFS", lasting: true });
  expect(run).toMatchObject({ fired: true, code: 0 });
  expect(JSON.parse(run.stdout)).toMatchObject({ outcome: "done" });
}
