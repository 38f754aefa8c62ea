import { mkdirSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { mountFileSystem } from "../support/loop.ts";
import { diskUsage, names, run, shell } from "./shell.ts";
import { COPIES, KERNEL, PLAIN, openBench } from "./subjects.ts";
import { touches, trace } from "./traced.ts";

/** In memory, because thousands of files are made and removed. */
const ROOMY = { megabytes: 2000, mountOptions: ["nr_inodes=400000"] };

const DATA = ["read", "pread64", "write", "pwrite64", "copy_file_range", "sendfile", "ioctl"];

/** Files of `size` bytes in folders of a hundred. */
function makeFiles(root: string, count: number, size: number): void {
  mkdirSync(root);
  const content = Buffer.alloc(size, 1);
  for (let at = 0; at < count; at++) {
    const folder = join(root, `d${Math.floor(at / 100)}`);
    if (at % 100 === 0) mkdirSync(folder);
    writeFileSync(join(folder, `f${at}`), content);
  }
}

describe.each([...PLAIN, KERNEL])("$name", (subject) => {
  test("an empty commit and its undo write nothing, and look at everything once at most (R65, R242)", async () => {
    await using disk = mountFileSystem("tmpfs", ROOMY);
    const [real, state] = [join(disk.mountPoint, "real"), join(disk.mountPoint, "state")];
    makeFiles(real, 300, 10);
    await using bench = await openBench(subject, real, state);
    await bench.sandbox.getPath();
    const before = names(bench.area);
    const calls = await trace(state, ["commit", "rollback"], [...DATA, "getdents64", "fsync"]);
    const changing = calls.filter(({ name }) => /write|copy|sendfile|fsync/.test(name));
    // The status of the sandbox is recorded outside its area.
    expect(changing.length).toBeGreaterThan(0);
    expect(changing.filter((call) => touches(call, real))).toEqual([]);
    expect(changing.filter((call) => touches(call, bench.area))).toEqual([]);
    expect(names(bench.area)).toEqual(before);
    expect((await bench.sandbox.describe()).status).toBe("ROLLED_BACK");
    const listed = calls.filter(({ name, result }) => name === "getdents64" && result === 0);
    const walked = listed.filter((call) => touches(call, bench.directory) || touches(call, real));
    expect(new Set(walked.map(({ paths }) => paths[0])).size).toBe(walked.length);
  });
});

describe.each(COPIES.slice(0, 1))("$name", (subject) => {
  test("a commit walks each tree once at most (R243)", async () => {
    await using disk = mountFileSystem("tmpfs", ROOMY);
    const [real, state] = [join(disk.mountPoint, "real"), join(disk.mountPoint, "state")];
    makeFiles(real, 1000, 10);
    await using bench = await openBench(subject, real, state);
    shell(await bench.sandbox.getPath(), "printf x > d3/f305; rm d4/f405; printf new > d5/new");
    const calls = await trace(state, ["commit"], ["getdents64"]);
    const ends = calls.filter(({ result }) => result === 0);
    const walks = (root: string): string[] =>
      ends.filter((call) => touches(call, root)).map(({ paths }) => paths[0] ?? "");
    const workspace = await bench.sandbox.describe().then(() => bench.directory);
    const inWorkspace = walks(workspace).filter((path) => path.includes("/tree"));
    expect(inWorkspace).toHaveLength(11);
    expect(new Set(inWorkspace).size).toBe(inWorkspace.length);
    expect(new Set(walks(real)).size).toBe(walks(real).length);
    expect((await bench.sandbox.describe()).lastResult).toMatchObject({
      changed: ["d3/f305"],
      added: ["d5/new"],
      deleted: ["d4/f405"],
    });
  });

  test("a diff reads only what changed (R244)", async () => {
    await using disk = mountFileSystem("tmpfs", ROOMY);
    const [real, state] = [join(disk.mountPoint, "real"), join(disk.mountPoint, "state")];
    makeFiles(real, 10_000, 100);
    await using bench = await openBench(subject, real, state);
    const edited = [5, 1234, 5555, 8080, 9999].map((at) => `d${Math.floor(at / 100)}/f${at}`);
    // Size and time say nothing: only the recorded identity tells that these were written to.
    const script = edited.map(
      (path) =>
        `printf X | dd of=${path} conv=notrunc status=none; touch -r ${join(real, path)} ${path}`,
    );
    const workspace = await bench.sandbox.getPath();
    shell(workspace, script.join("\n"));
    const calls = await trace(state, ["diff"], ["read", "pread64"]);
    const read = (root: string): Map<string, number> => {
      const bytes = new Map<string, number>();
      for (const call of calls.filter((one) => touches(one, root))) {
        const path = call.paths[0]?.slice(root.length + 1) ?? "";
        bytes.set(path, (bytes.get(path) ?? 0) + call.result);
      }
      return bytes;
    };
    for (const root of [workspace, real]) {
      const files = read(root);
      expect([...files.keys()].toSorted()).toEqual(edited.toSorted());
      // Once to find out that they differ, once for the digests.
      for (const bytes of files.values()) expect(bytes).toBeLessThanOrEqual(200);
    }
    const { changes } = await bench.sandbox.diff();
    expect(changes.map(({ path, kind }) => [path, kind])).toEqual(
      edited.map((path) => [path, "modified"]),
    );
  });

  test("a checkpoint costs what changed since the last one (R208)", async () => {
    await using disk = mountFileSystem("tmpfs", ROOMY);
    const [real, state] = [join(disk.mountPoint, "real"), join(disk.mountPoint, "state")];
    makeFiles(real, 10_000, 4096);
    await using bench = await openBench(subject, real, state);
    const { sandbox } = bench;
    shell(await sandbox.getPath(), "printf edited > d0/f0");
    await sandbox.checkpoint("first");
    const size = diskUsage(bench.directory);
    shell(await sandbox.getPath(), "for f in 1 2 3 4 5; do printf edited$f >> d$f/f${f}00; done");
    await sandbox.checkpoint("second");
    // Five files of two blocks, a block for each of a hundred folders, and the list of changes.
    expect(diskUsage(bench.directory) - size).toBeLessThan(5 * 8192 + 110 * 4096 + 65_536);
    await sandbox.restoreCheckpoint("first");
    const restored = diskUsage(bench.directory);
    await sandbox.checkpoint("third");
    expect(diskUsage(bench.directory) - restored).toBeLessThan(110 * 4096 + 65_536);
    const kept = run("find", [bench.directory, "-path", "*/tree/d9/f999", "-printf", "%i %n\n"]);
    const shared = kept.split("\n").filter((line) => / [4-9]$/.test(line));
    // The file is one in all four checkpoints, the automatic one among them, and never one with the workspace.
    expect([new Set(shared).size, shared.length]).toEqual([1, 4]);
    expect(statSync(join(await sandbox.getPath(), "d9/f999")).nlink).toBe(1);
  });
});

describe.each([
  { subject: COPIES[0]!, count: 10_000 },
  { subject: KERNEL, count: 100_000 },
])("$subject.name", ({ subject, count }) => {
  test("undo data costs what changed, and an undo copies no data (R241, R246)", async () => {
    await using disk = mountFileSystem("tmpfs", ROOMY);
    const [real, state] = [join(disk.mountPoint, "real"), join(disk.mountPoint, "state")];
    makeFiles(real, count, 1);
    writeFileSync(join(real, "huge"), "");
    truncateSync(join(real, "huge"), 10 * 2 ** 30);
    const edited = Buffer.alloc(1 << 20, 7);
    writeFileSync(join(real, "edited"), Buffer.alloc(1 << 20, 3));
    await using bench = await openBench(subject, real, state);
    await bench.sandbox.write("edited", edited);
    const before = diskUsage(disk.mountPoint);
    await bench.sandbox.commit();
    expect(diskUsage(disk.mountPoint) - before).toBeLessThan(2 * edited.length + 65_536);
    const [stage = ""] = names(bench.directory).filter((name) => /^tx-[^/]*$/.test(name));
    expect(diskUsage(join(bench.directory, stage))).toBeLessThan(2 * edited.length + 65_536);
    const calls = await trace(state, ["undo"], [...DATA, "rename", "renameat", "renameat2"]);
    const moved = calls.filter((call) => touches(call, real) && call.name.startsWith("rename"));
    expect(moved.length).toBeGreaterThan(0);
    const copied = calls.filter(
      (call) =>
        (touches(call, real) || touches(call, join(bench.directory, stage, "entries"))) &&
        !call.name.startsWith("rename") &&
        call.result > 0,
    );
    expect(copied).toEqual([]);
    expect(run("head", ["-c", "1", join(real, "edited")])).toBe("\x03");
  });
});
