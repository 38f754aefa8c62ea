import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ErrorJson, SandboxRef } from "../../src/index.ts";
import {
  type FaultPoint,
  type TracedProgram,
  faultPoints,
  runWithFault,
} from "../support/faults.ts";
import {
  type Oracle,
  expectOracleEqual,
  oracleDifferences,
  takeOracle,
} from "../support/oracle.ts";
import type { Operation, Order, Told } from "./order.ts";
import { sampleOf, samplePoints } from "../support/sample-points.ts";
import { committed } from "./committed.ts";
import { type Place, makePlace, openPlace, shell } from "./place.ts";

const PROGRAM = new URL("./programs/operate.ts", import.meta.url);
const MINUTES = 60_000;

const TREE = `for folder in a b c gone; do mkdir $folder; echo "$folder as it was" > $folder/file; done
ln -s file b/link; mkdir b/empty`;
const EDIT = `for folder in a b c; do echo "$folder edited" > $folder/file; done
rm -r gone b/empty; ln -sfn ../a/file b/link; mkdir -p a/new/inner c/new; echo new > a/new/inner/file`;

/** A sandbox right before an operation on it. */
interface Arranged {
  readonly place: Place;
  readonly ref: SandboxRef;
  readonly operation: Operation;
  /** What the operation is about to change. */
  readonly target: string;
  readonly before: Oracle;
  /** The resource before anything happened. */
  readonly old: Oracle;
}

function traced({ place, operation }: Arranged, touching: string): TracedProgram {
  const order: Order = { state: place.state, ...operation };
  return { program: PROGRAM, args: [JSON.stringify(order)], touching: [touching] };
}

/** A committed sandbox whose commit is to be taken back. */
async function undoable(strategy: string): Promise<Arranged> {
  const { place, ref, old, published: before } = await committed(strategy, TREE, EDIT);
  const operation = { operation: "undoCommit", ref } as const;
  return { place, ref, target: place.real, before, old, operation };
}

/** A copy with a checkpoint that is to be restored. */
async function kept(strategy: string): Promise<Arranged> {
  const place = makePlace(TREE);
  const old = takeOracle(place.real);
  await using coffer = await openPlace(place);
  const ref = await coffer.create("plan", place.real, { strategy });
  const sandbox = coffer.sandbox(ref);
  await sandbox.checkpoint("kept");
  const target = await sandbox.getPath();
  shell(target, EDIT);
  const operation = { operation: "restoreCheckpoint", ref, checkpointId: "kept" } as const;
  return { place, ref, target, before: takeOracle(target), old, operation };
}

/** What an undo of the edits has to touch, path by path. */
const TOUCHED = ["a/file", "a/new", "b/file", "b/link", "b/empty", "c/file", "c/new", "gone"];

const STRATEGIES = ["overlay", "copy_on_write", "filesystem_copy"];

describe.each(STRATEGIES)("%s", (strategy) => {
  it(
    "goes forward again when an undo stops half way at any path, and undoes it once the cause is gone (R178)",
    async () => {
      const paths = sampleOf(3, [...TOUCHED.entries()], STRATEGIES.indexOf(strategy));
      for (const [at, path] of paths) {
        const arranged = await undoable(strategy);
        const { place, ref, before, old } = arranged;
        const error = at % 2 === 0 ? "EIO" : "ENOSPC";
        const stuck = traced(arranged, join(place.real, path));
        const run = await runWithFault(stuck, { at: 1 }, { error, lasting: true });
        expect(run.fired, path).toBe(true);
        expect(JSON.parse(run.stdout), path).toMatchObject({
          outcome: "failed",
          error: {
            code: "SANDBOX_ROLLBACK",
            data: { reason: "io", originalRestored: false, undoDataAt: null },
            cause: { code: error },
          },
        });
        expectOracleEqual(before, takeOracle(place.real));
        await using coffer = await openPlace(place, { recover: "report" });
        expect(coffer.opening.interrupted).toMatchObject({ transactions: [], sandboxes: [] });
        expect(await coffer.status(ref)).toBe("COMMITTED");
        await coffer.sandbox(ref).undoCommit();
        expectOracleEqual(old, takeOracle(place.real));
        await coffer.sandbox(ref).cleanup();
      }
    },
    5 * MINUTES,
  );

  it("deletes nothing when an undo can go neither back nor forward, and says where it lies (R182)", async () => {
    const arranged = await undoable(strategy);
    const { place, ref, before, old } = arranged;
    const third = await thirdRename(strategy);
    const fault = { error: "EROFS", lasting: true } as const;
    const run = await runWithFault(traced(arranged, place.real), { at: third }, fault);
    expect(run.fired).toBe(true);
    const { error } = JSON.parse(run.stdout) as Told;
    expect(error).toMatchObject({ code: "SANDBOX_ROLLBACK", data: { originalRestored: false } });
    const { undoDataAt } = (error as ErrorJson).data as { readonly undoDataAt: string };
    // Both versions of everything are in the tree or in the place that the error tells.
    const found = shell(
      place.folder,
      `cat real/*/file real/a/new/inner/file; find '${undoDataAt}' -type f -exec cat {} +`,
    );
    for (const folder of ["a", "b", "c"]) {
      expect(found).toContain(`${folder} as it was\n`);
      expect(found).toContain(`${folder} edited\n`);
    }
    expect(found).toContain("gone as it was\n");
    expect(found).toContain("new\n");
    await using coffer = await openPlace(place, { recover: "report" });
    expect(await coffer.status(ref)).toBe("ERRORED");
    expect(await coffer.recover()).toMatchObject({ complete: true });
    expect(await coffer.status(ref)).toBe("COMMITTED");
    expectOracleEqual(before, takeOracle(place.real));
    await coffer.sandbox(ref).undoCommit();
    expectOracleEqual(old, takeOracle(place.real));
    await coffer.sandbox(ref).cleanup();
  });

  it("does not go forward again when the resource is back and only the sandbox is not", async () => {
    const arranged = await undoable(strategy);
    const { place, ref, old } = arranged;
    const mark = join(ref.metadata["directory"] as string, "committed.json");
    const fault = { error: "EIO", lasting: true } as const;
    const run = await runWithFault(traced(arranged, mark), { at: 1 }, fault);
    expect(run.fired).toBe(true);
    expect(JSON.parse(run.stdout)).toMatchObject({
      error: { code: "SANDBOX_ROLLBACK", data: { reason: "io", originalRestored: true } },
    });
    expectOracleEqual(old, takeOracle(place.real));
    await using coffer = await openPlace(place, { recover: "report" });
    expect(await coffer.status(ref)).toBe("ERRORED");
    expect(await coffer.recover()).toMatchObject({ complete: true });
    expect(await coffer.status(ref)).toBe("ACTIVE");
    expectOracleEqual(old, takeOracle(place.real));
    await coffer.sandbox(ref).commit();
    expectOracleEqual(arranged.before, takeOracle(place.real));
    await coffer.sandbox(ref).cleanup();
  });
});

async function thirdRename(strategy: string): Promise<number> {
  const arranged = await undoable(strategy);
  const points = await faultPoints(traced(arranged, arranged.place.real));
  const third = points.filter(({ call }) => call === "renameat2")[2];
  expect(third).toBeDefined();
  return third?.at ?? 0;
}

describe.each(["copy_on_write", "filesystem_copy"])("%s", (strategy) => {
  it(
    "removes a workspace that was built half way by a restore, and keeps the one before (R178)",
    async () => {
      const points = await faultPoints(await restoring(strategy));
      for (const { at } of samplePoints(4)(points.slice(1))) {
        const arranged = await kept(strategy);
        const { place, ref, target, before, old } = arranged;
        const error = at % 2 === 0 ? "EIO" : "ENOSPC";
        const run = await runWithFault(
          traced(arranged, join(target, "../../g2")),
          { at },
          { error },
        );
        expect(run.fired).toBe(true);
        const told = JSON.parse(run.stdout) as Told;
        await using coffer = await openPlace(place, { recover: "report" });
        const sandbox = coffer.sandbox(ref);
        const failed = { error: { code: "CHECKPOINT", data: { reason: "failed" } } };
        expect(told).toMatchObject({ done: {}, failed }[told.outcome]);
        expect(await coffer.status(ref)).toBe("ACTIVE");
        const expected = { done: old, failed: before }[told.outcome];
        expectOracleEqual(expected, takeOracle(await sandbox.getPath()));
        await sandbox.restoreCheckpoint("kept");
        expectOracleEqual(old, takeOracle(await sandbox.getPath()));
        expect(shell(join(target, "../.."), "ls -d g*").trim().split("\n")).toHaveLength(1);
        await sandbox.cleanup();
      }
    },
    5 * MINUTES,
  );
});

describe.each(["copy_on_write", "filesystem_copy"])("%s", (strategy) => {
  it("deletes nothing when a restore can go neither forward nor back, and says where both states are (R182)", async () => {
    const arranged = await kept(strategy);
    const { place, ref, target, before, old } = arranged;
    const home = join(target, "../..");
    const fault = { error: "EIO", lasting: true } as const;
    const run = await runWithFault(traced(arranged, home), await atSwitch(strategy), fault);
    expect(run.fired).toBe(true);
    const { error } = JSON.parse(run.stdout) as Told;
    expect(error).toMatchObject({ code: "CHECKPOINT", data: { reason: "failed", keptAt: home } });
    const { keptAs } = (error as ErrorJson).data as { readonly keptAs: string };
    await using coffer = await openPlace(place, { recover: "report" });
    expect(await coffer.status(ref)).toBe("ERRORED");
    expect((await coffer.describe(ref)).lastError).toMatchObject({
      data: { keptAs, keptAt: home },
    });
    // The workspace as it was, and beside it the state that was wanted and the one before, each whole.
    expectOracleEqual(before, takeOracle(target));
    const trees = shell(home, "ls -d c-*/tree").trim().split("\n");
    const found = trees.map((tree) => takeOracle(join(home, tree)));
    expect(found).toHaveLength(2);
    expect(found.filter((tree) => oracleDifferences(old, tree).length === 0)).toHaveLength(1);
    expect(found.filter((tree) => oracleDifferences(before, tree).length === 0)).toHaveLength(1);
    expect(await coffer.recover()).toMatchObject({ complete: true });
    const sandbox = coffer.sandbox(ref);
    expectOracleEqual(before, takeOracle(await sandbox.getPath()));
    for (const [id, state] of [
      ["kept", old],
      [keptAs, before],
    ] as const) {
      await sandbox.restoreCheckpoint(id);
      expectOracleEqual(state, takeOracle(await sandbox.getPath()));
    }
    await sandbox.cleanup();
  });
});

/** The moment at which the new workspace is to take the place of the old one. */
async function atSwitch(strategy: string): Promise<FaultPoint> {
  const arranged = await kept(strategy);
  const points = await faultPoints(traced(arranged, join(arranged.target, "../..")));
  const point = points.find(({ paths }) => paths[1]?.endsWith("/workspace.json") === true);
  if (point === undefined) throw new Error("the restore switches to nothing");
  return point;
}

async function restoring(strategy: string): Promise<TracedProgram> {
  const arranged = await kept(strategy);
  return traced(arranged, join(arranged.target, "../../g2"));
}
