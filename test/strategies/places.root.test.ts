import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { mountFileSystem } from "../support/loop.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { run, shell } from "./shell.ts";
import { COPIES, KERNEL, PLAIN, openBench } from "./subjects.ts";

describe.each([...PLAIN, KERNEL])("$name", (subject) => {
  test("works in a directory whose parent nobody may change (R39)", async () => {
    const folder = tempFolder();
    const parent = join(folder, "parent");
    const real = join(parent, "real");
    mkdirSync(real, { recursive: true });
    writeFileSync(join(real, "file"), "old\n");
    const before = takeOracle(real);
    run("chattr", ["+i", parent]);
    try {
      await using bench = await openBench(subject, real, join(folder, "state"));
      await bench.sandbox.write("file", "new\n");
      await bench.sandbox.commit();
      expect(run("cat", [join(real, "file")])).toBe("new\n");
      await bench.sandbox.rollback();
      expectOracleEqual(before, takeOracle(real));
    } finally {
      run("chattr", ["-i", parent]);
    }
  });

  test("undo data lies privately on the resource's own file system, out of git's sight (R175)", async () => {
    await using disk = mountFileSystem("ext4");
    await using other = mountFileSystem("tmpfs");
    const repository = join(disk.mountPoint, "repository");
    mkdirSync(repository);
    const git = (...args: string[]): string => run("git", ["-C", repository, ...args]);
    git("init", "-q");
    writeFileSync(join(repository, "file"), "old\n");
    git("add", "file");
    await using bench = await openBench(subject, repository, join(other.mountPoint, "state"));
    await bench.sandbox.write("file", "new\n");
    await bench.sandbox.commit();
    const [stage = ""] = shell(bench.directory, "ls -d tx-*").split("\n");
    const kept = join(bench.directory, stage);
    expect(statSync(kept).dev).toBe(statSync(repository).dev);
    for (const path of [bench.area, bench.directory, kept]) {
      const { mode, uid } = statSync(path);
      expect([mode & 0o777, uid]).toEqual([0o700, process.getuid?.()]);
    }
    // The name of the sandbox's folder cannot be guessed.
    expect(bench.directory.slice(bench.directory.lastIndexOf("/"))).toMatch(/^\/[0-9a-z]{26}$/);
    expect(git("status", "--porcelain").split("\n")).toEqual(["AM file", ""]);
    await bench.sandbox.rollback();
    expect(git("status", "--porcelain")).toBe("A  file\n");
  });

  test("notices undo data that was touched, and undoes nothing (R32)", async () => {
    const folder = tempFolder();
    const real = join(folder, "real");
    mkdirSync(real);
    writeFileSync(join(real, "file"), "old\n");
    writeFileSync(join(real, "second"), "old\n");
    await using bench = await openBench(subject, real, join(folder, "state"));
    await bench.sandbox.write("file", "new\n");
    await bench.sandbox.write("second", "new\n");
    await bench.sandbox.commit();
    const committed = takeOracle(real);
    // One byte of the first kept file, then of each record.
    const files = shell(bench.directory, "find tx-* -type f").trim().split("\n");
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) {
      const path = join(bench.directory, file);
      shell(
        bench.directory,
        `cp -a ${file} ../saved; printf Z | dd of=${file} conv=notrunc status=none`,
      );
      await expect(bench.sandbox.rollback(), path).rejects.toMatchObject({
        code: "SANDBOX_ROLLBACK",
        data: { reason: "undoDataMissing" },
      });
      expectOracleEqual(committed, takeOracle(real));
      expect((await bench.sandbox.describe()).status).toBe("COMMITTED");
      shell(bench.directory, `cat ../saved > ${file}; touch -r ../saved ${file}; rm ../saved`);
    }
  });
});

describe.each(COPIES.slice(0, 1))("$name", (subject) => {
  test("hard links and holes survive the commit and undo of other paths and of their own (R172)", async () => {
    const folder = tempFolder();
    const real = join(folder, "real");
    mkdirSync(real);
    shell(
      real,
      `printf one > a; ln a b; ln a c; printf two > x; ln x y
       truncate -s 64M sparse; printf end >> sparse; truncate -s 64M other; printf end >> other`,
    );
    const before = takeOracle(real);
    const blocks = (): number => Number(shell(real, "du -ck sparse other | tail -n 1 | cut -f 1"));
    const size = blocks();
    await using bench = await openBench(subject, real, join(folder, "state"));
    const workspace = await bench.sandbox.getPath();
    shell(workspace, "printf more >> x; printf more >> sparse; rm b; printf own > b");
    const shown = takeOracle(workspace);
    await bench.sandbox.commit();
    expectOracleEqual(shown, takeOracle(real));
    // The kept file is a name of the group still.
    expect(shell(real, "stat -c %h a b c x y | paste -sd' '").trim()).toBe("3 1 3 2 2");
    expect(blocks()).toBeLessThan(size + 64);
    await bench.sandbox.rollback();
    expectOracleEqual(before, takeOracle(real));
    expect(shell(real, "stat -c %h a b c x y | paste -sd' '").trim()).toBe("3 3 3 2 2");
    expect(blocks()).toBe(size);
  });
});
