import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startChild } from "../support/child.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { run, shell } from "./shell.ts";
import { type Subject, openBench } from "./subjects.ts";

const reader = new URL("./programs/read-loop.ts", import.meta.url);
const SIZE = 1 << 20;

function site(): { real: string; state: string } {
  const folder = tempFolder();
  const real = join(folder, "real");
  mkdirSync(real);
  return { real, state: join(folder, "state") };
}

/** Other programs that use the same files while a sandbox is committed and undone. */
export function testSharing(subjects: readonly Subject[]): void {
  describe.each(subjects)("$name", (subject) => {
    test("a reader sees the old file or the new one, whole, at every moment (R194)", async () => {
      const { real, state } = site();
      const file = join(real, "file");
      writeFileSync(file, "a".repeat(SIZE));
      const child = await startChild(reader, [file]);
      await once(child.process.stdout, "data");
      {
        await using bench = await openBench(subject, real, state);
        for (let round = 0; round < 5; round++) {
          await bench.sandbox.write("file", "b".repeat(SIZE * 2));
          await bench.sandbox.commit();
          await bench.sandbox.rollback();
        }
      }
      child.process.stdin.end();
      const { stdout } = await child.result;
      const seen = JSON.parse(stdout.replace("ready\n", "")) as Record<string, number>;
      expect(Object.keys(seen).toSorted()).toEqual([`a ${SIZE}`, `b ${SIZE * 2}`]);
    });

    test("nobody who still has the old file open reaches what was published (R197)", async () => {
      const { real, state } = site();
      writeFileSync(join(real, "log"), "old\n");
      const before = takeOracle(real);
      await using bench = await openBench(subject, real, state);
      const { sandbox } = bench;
      await sandbox.write("log", "new\n");
      const fd = openSync(join(real, "log"), "a");
      try {
        await sandbox.commit();
        expect(run("cat", [join(real, "log")])).toBe("new\n");
        await sandbox.rollback();
        expectOracleEqual(before, takeOracle(real));
        await sandbox.write("log", "new\n");
        await sandbox.commit();
        writeSync(fd, "late\n");
        expect(run("cat", [join(real, "log")])).toBe("new\n");
        // What is kept for the undo is no longer what it was, so the undo refuses and touches nothing.
        const committed = takeOracle(real);
        await expect(sandbox.rollback()).rejects.toMatchObject({
          code: "SANDBOX_ROLLBACK",
          data: { reason: "undoDataMissing" },
        });
        expectOracleEqual(committed, takeOracle(real));
        expect((await sandbox.describe()).status).toBe("COMMITTED");
      } finally {
        closeSync(fd);
      }
    });

    test("a process keeps working in the resource, and its FIFO and socket stay (R38)", async () => {
      const { real, state } = site();
      shell(real, "printf old > file; printf rest > rest; mkdir d; mkfifo d/pipe");
      const server = spawn(
        process.execPath,
        ["-e", "require('net').createServer().listen('socket', () => console.log('up'))"],
        { cwd: join(real, "d"), stdio: ["ignore", "pipe", "ignore"] },
      );
      try {
        await once(server.stdout, "data");
        const untouched = (): string =>
          run("stat", ["-c", "%n %i %Z", "rest", "d/pipe", "d/socket"], real);
        const before = untouched();
        const inode = run("stat", ["-c", "%i", real]);
        await using bench = await openBench(subject, real, state);
        await bench.sandbox.write("file", "new");
        await bench.sandbox.write("d/made", "made");
        await bench.sandbox.commit();
        expect(run("cat", [`/proc/${server.pid}/cwd/made`])).toBe("made");
        expect(untouched()).toBe(before);
        await bench.sandbox.rollback();
        expect(untouched()).toBe(before);
        expect(run("stat", ["-c", "%i", real])).toBe(inode);
        expect(shell(real, "ls d")).toBe("pipe\nsocket\n");
      } finally {
        server.kill("SIGKILL");
        await once(server, "close");
      }
    });
  });
}

/** Programs that write in a workspace which is an ordinary directory. */
export function testOpenWorkspace(subjects: readonly Subject[]): void {
  describe.each(subjects)("$name", (subject) => {
    test("nobody who still writes in the workspace reaches what was published (R197)", async () => {
      const { real, state } = site();
      writeFileSync(join(real, "log"), "old\n");
      await using bench = await openBench(subject, real, state);
      const inside = join(await bench.sandbox.getPath(), "log");
      appendFileSync(inside, "edit\n");
      const fd = openSync(inside, "a");
      try {
        await bench.sandbox.commit();
        writeSync(fd, "late\n");
        expect(readFileSync(join(real, "log"), "utf8")).toBe("old\nedit\n");
        expect(run("stat", ["-c", "%h", join(real, "log")]).trim()).toBe("1");
      } finally {
        closeSync(fd);
      }
    });
  });
}
