import { statfsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { InsufficientSpaceError, SandboxCommitError, SandboxError } from "../../src/index.ts";
import { mountFileSystem } from "../support/loop.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { names, run, shell } from "./shell.ts";
import { COPIES, KERNEL, PLAIN, openBench } from "./subjects.ts";

const MEGABYTE = 1 << 20;
/** What the library's own records may take meanwhile. */
const RECORDS = 64 << 10;

/** Takes room until `left` bytes are free; the rest goes when the file goes. */
function fill(mountPoint: string, left: number): string {
  const ballast = join(mountPoint, "ballast");
  const { bavail, bsize } = statfsSync(mountPoint);
  run("fallocate", ["-l", String(bavail * bsize - left), ballast]);
  return ballast;
}

function free(mountPoint: string): number {
  const { bavail, bsize } = statfsSync(mountPoint);
  return bavail * bsize;
}

async function thrown(promise: Promise<unknown>): Promise<SandboxError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(SandboxError);
  return error as SandboxError;
}

describe.each(COPIES)("$name", (subject) => {
  test("makes a copy that just fits, and none that does not (R248)", async () => {
    await using disk = mountFileSystem("tmpfs", { megabytes: 32 });
    const [real, state] = [join(disk.mountPoint, "real"), join(disk.mountPoint, "state")];
    mkdirSync(real);
    writeFileSync(join(real, "large"), Buffer.alloc(8 * MEGABYTE, 1));
    // The state directory exists before, so that only the copy itself takes room.
    await (await openBench(subject, real, state))[Symbol.asyncDispose]();
    const ballast = fill(disk.mountPoint, 8 * MEGABYTE);
    const [before, area] = [takeOracle(real), names(join(state, "area"))];
    const error = await thrown(openBench(subject, real, state));
    expect(error).toBeInstanceOf(InsufficientSpaceError);
    const { needed, free: told, unit } = error.data as InsufficientSpaceError["data"];
    expect(unit).toBe("bytes");
    // The record of the creation was there at that moment.
    expect(free(disk.mountPoint) - told).toBeLessThan(RECORDS);
    expectOracleEqual(before, takeOracle(real));
    expect(names(join(state, "area"))).toEqual(area);
    rmSync(ballast);
    fill(disk.mountPoint, needed - 4096);
    expect(await thrown(openBench(subject, real, state))).toBeInstanceOf(InsufficientSpaceError);
    rmSync(ballast);
    fill(disk.mountPoint, needed + RECORDS);
    await using bench = await openBench(subject, real, state);
    expectOracleEqual(before, takeOracle(await bench.sandbox.getPath()));
  });

  test("commits what just fits, and refuses what does not before anything is written (R248)", async () => {
    await using disk = mountFileSystem("tmpfs", { megabytes: 64 });
    const [real, state] = [join(disk.mountPoint, "real"), join(disk.mountPoint, "state")];
    mkdirSync(real);
    writeFileSync(join(real, "file"), "old");
    await using bench = await openBench(subject, real, state);
    const { sandbox } = bench;
    await sandbox.write("file", Buffer.alloc(8 * MEGABYTE, 1));
    const ballast = fill(disk.mountPoint, 4 * MEGABYTE);
    const [before, kept] = [takeOracle(real), names(bench.directory)];
    const error = await thrown(sandbox.commit());
    expect(error).toBeInstanceOf(InsufficientSpaceError);
    expectOracleEqual(before, takeOracle(real));
    expect(names(bench.directory)).toEqual(kept);
    expect((await sandbox.describe()).status).toBe("ACTIVE");
    const { needed } = error.data as InsufficientSpaceError["data"];
    rmSync(ballast);
    fill(disk.mountPoint, needed - 4096);
    expect(await thrown(sandbox.commit())).toBeInstanceOf(InsufficientSpaceError);
    rmSync(ballast);
    fill(disk.mountPoint, needed + RECORDS);
    await sandbox.commit();
    expect(run("stat", ["-c", "%s", join(real, "file")]).trim()).toBe(String(8 * MEGABYTE));
  });

  test("refuses when the inodes run out, before anything is made (R248)", async () => {
    await using disk = mountFileSystem("tmpfs", { mountOptions: ["nr_inodes=400"] });
    const [real, state] = [join(disk.mountPoint, "real"), join(disk.mountPoint, "state")];
    mkdirSync(real);
    for (let at = 0; at < 250; at++) writeFileSync(join(real, String(at)), "");
    const error = await thrown(openBench(subject, real, state));
    expect(error).toBeInstanceOf(InsufficientSpaceError);
    expect(error.data).toMatchObject({ unit: "inodes" });
    expect(names(join(state, "area"))).toEqual(["sandboxes"]);
  });

  test("leaves resource and area as they were when the disk fills up while staging (R27)", async () => {
    await using disk = mountFileSystem("tmpfs", { megabytes: 32 });
    const [real, state] = [join(disk.mountPoint, "real"), join(disk.mountPoint, "state")];
    mkdirSync(real);
    await using bench = await openBench(subject, real, state);
    const { sandbox } = bench;
    // The records of such long paths take more room than anybody foresees.
    shell(
      await sandbox.getPath(),
      `name=$(head -c 250 /dev/zero | tr '\\0' x)
       for level in $(seq 14); do mkdir $name; cd $name; done
       for at in $(seq 400); do : > $at; done`,
    );
    const ballast = fill(disk.mountPoint, 200 * 4096);
    const [before, kept] = [takeOracle(real), names(bench.directory)];
    const error = await thrown(sandbox.commit());
    expect(error).toBeInstanceOf(SandboxCommitError);
    expect(error.cause).toMatchObject({ code: "ENOSPC" });
    expect(error.data).toMatchObject({ originalRestored: true, undoDataAt: null });
    expectOracleEqual(before, takeOracle(real));
    expect(names(bench.directory)).toEqual(kept);
    rmSync(ballast);
    expect((await sandbox.commit()).added).toHaveLength(414);
  });

  test.each(["restoreCheckpoint", "rollback"] as const)(
    "%s removes a workspace that the disk has room for in part only, and keeps the one before (R178)",
    async (operation) => {
      await using disk = mountFileSystem("ext4", {
        megabytes: 128,
        formatOptions: ["-b", "4096", "-m", "0"],
      });
      const [real, state] = [join(disk.mountPoint, "real"), join(disk.mountPoint, "state")];
      mkdirSync(real);
      // Folders take a block each: no look at the sizes tells.
      shell(real, "mkdir $(seq 1500); echo old > file");
      await using bench = await openBench(subject, real, state);
      const { sandbox } = bench;
      await sandbox.checkpoint("kept");
      const work = await sandbox.getPath();
      shell(work, "echo edited > file; rmdir 8; echo new > 9/new");
      const before = takeOracle(work);
      // A restore first keeps the present state.
      const room = operation === "rollback" ? 3 : 9;
      const ballast = fill(disk.mountPoint, room * MEGABYTE);
      const call = (): Promise<void> =>
        operation === "rollback" ? sandbox.rollback() : sandbox.restoreCheckpoint("kept");
      const error = await thrown(call());
      expect(error.cause).toMatchObject({ code: "ENOSPC" });
      const data = { restoreCheckpoint: { checkpointId: "kept" }, rollback: { reason: "io" } };
      expect(error.data).toMatchObject(data[operation]);
      expect(shell(bench.directory, "ls -d g*")).toBe("g1\n");
      expect((await sandbox.describe()).status).toBe("ACTIVE");
      expectOracleEqual(before, takeOracle(work));
      rmSync(ballast);
      await call();
      expectOracleEqual(takeOracle(real), takeOracle(await sandbox.getPath()));
    },
  );

  test("a workspace that cannot be built again is stale, not a failed undo (R35)", async () => {
    await using disk = mountFileSystem("tmpfs", { megabytes: 48 });
    const [real, state] = [join(disk.mountPoint, "real"), join(disk.mountPoint, "state")];
    mkdirSync(real);
    writeFileSync(join(real, "large"), Buffer.alloc(4 * MEGABYTE, 1));
    writeFileSync(join(real, "file"), "old");
    const before = takeOracle(real);
    await using bench = await openBench(subject, real, state);
    const { sandbox } = bench;
    await sandbox.write("file", "new");
    await sandbox.commit();
    const ballast = fill(disk.mountPoint, 2 * MEGABYTE);
    await sandbox.rollback();
    expectOracleEqual(before, takeOracle(real));
    const { status, workspaceStale, lastError } = await sandbox.describe();
    expect([status, workspaceStale]).toEqual(["ROLLED_BACK", true]);
    expect(lastError).toMatchObject({ code: "INSUFFICIENT_SPACE" });
    expect(bench.events.map(({ name }) => name)).toContain("sandbox.workspaceStale");
    await expect(sandbox.getPath()).rejects.toBeInstanceOf(SandboxError);
    rmSync(ballast);
    expectOracleEqual(before, takeOracle(await sandbox.getPath()));
    expect((await sandbox.describe()).workspaceStale).toBe(false);
    expect((await sandbox.diff()).changes).toEqual([]);
  });
});

describe.each([...PLAIN, KERNEL])("$name", (subject) => {
  test("commits nothing while the journal cannot be written (R27)", async () => {
    await using other = mountFileSystem("tmpfs");
    const real = join(other.mountPoint, "real");
    mkdirSync(real);
    writeFileSync(join(real, "file"), "old");
    await using disk = mountFileSystem("tmpfs", { megabytes: 4 });
    await using bench = await openBench(subject, real, join(disk.mountPoint, "state"));
    const { sandbox } = bench;
    await sandbox.write("file", "new");
    const before = takeOracle(real);
    const ballast = fill(disk.mountPoint, 0);
    const error = await thrown(sandbox.commit());
    expect(error).toBeInstanceOf(SandboxCommitError);
    expectOracleEqual(before, takeOracle(real));
    rmSync(ballast);
    expect((await sandbox.describe()).status).toBe("ACTIVE");
    expect((await sandbox.commit()).changed).toEqual(["file"]);
    await sandbox.rollback();
    expectOracleEqual(before, takeOracle(real));
  });
});

test("an overlay that gets no new layer is stale, not a failed undo (R35)", async () => {
  const folder = tempFolder();
  const real = join(folder, "real");
  mkdirSync(real);
  writeFileSync(join(real, "file"), "old");
  const before = takeOracle(real);
  await using bench = await openBench(KERNEL, real, join(folder, "state"));
  const { sandbox } = bench;
  await sandbox.write("file", "new");
  await sandbox.commit();
  const layers = join(bench.directory, "l");
  run("chattr", ["+i", layers]);
  try {
    await sandbox.rollback();
    expectOracleEqual(before, takeOracle(real));
    const { status, workspaceStale } = await sandbox.describe();
    expect([status, workspaceStale]).toEqual(["ROLLED_BACK", true]);
    await expect(sandbox.getPath()).rejects.toBeInstanceOf(SandboxError);
  } finally {
    run("chattr", ["-i", layers]);
  }
  expectOracleEqual(before, takeOracle(await sandbox.getPath()));
  expect((await sandbox.diff()).changes).toEqual([]);
});
