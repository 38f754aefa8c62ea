import { once } from "node:events";
import { existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { acquireFolderLock, acquireLock } from "../../src/locks/file-lock.ts";
import { runChild, startChild, type RunningChild } from "../support/child.ts";
import { tempFolder } from "../support/temp.ts";

const program = new URL("./programs/hold-lock.ts", import.meta.url);
const ALONE = { exclusive: true, timeoutMs: 10_000 } as const;
const TOGETHER = { exclusive: false, timeoutMs: 10_000 } as const;
const AT_ONCE = { exclusive: true, timeoutMs: 0 } as const;

async function holder(file: string): Promise<RunningChild> {
  const child = await startChild(program, [file]);
  await once(child.process.stdout, "data");
  return child;
}

it("lets calls of one process pass one by one, in the order they came", async () => {
  const file = join(tempFolder(), "lock");
  const order: string[] = [];
  const calls = Array.from({ length: 30 }, async (_, at) => {
    await using _lock = await acquireLock(file, ALONE);
    order.push(`begin ${at}`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`end ${at}`);
  });
  await Promise.all(calls);
  expect(order).toEqual(Array.from({ length: 30 }, (_, at) => [`begin ${at}`, `end ${at}`]).flat());
});

it("lets readers in together, and nobody past a waiting writer", async () => {
  const file = join(tempFolder(), "lock");
  const order: string[] = [];
  const first = await acquireLock(file, TOGETHER);
  const second = await acquireLock(file, TOGETHER);
  const come = async (name: string, options: typeof ALONE | typeof TOGETHER): Promise<void> => {
    await using _lock = await acquireLock(file, options);
    order.push(name);
  };
  const waiting = [come("writer", ALONE), come("reader", TOGETHER)];
  await expect(acquireLock(file, AT_ONCE)).rejects.toMatchObject({ code: "PLAN_BUSY" });
  for (const lock of [first, second]) await lock[Symbol.asyncDispose]();
  await Promise.all(waiting);
  expect(order).toEqual(["writer", "reader"]);
});

it("keeps processes apart and names the holder (R213)", async () => {
  const file = join(tempFolder(), "lock");
  const child = await holder(file);
  const { pid } = child.process;
  await expect(acquireLock(file, { exclusive: true, timeoutMs: 100 })).rejects.toMatchObject({
    code: "PLAN_BUSY",
    data: { holder: { pid, since: expect.stringMatching(/Z$/) as string } },
  });
  child.process.stdin.end();
  await using _lock = await acquireLock(file, ALONE);
  expect((await child.result).code).toBe(0);
});

it("is free as soon as its holder is killed (R213)", async () => {
  const file = join(tempFolder(), "lock");
  const child = await holder(file);
  const waiting = acquireLock(file, ALONE);
  child.process.kill("SIGKILL");
  await using _lock = await waiting;
  expect((await child.result).signal).toBe("SIGKILL");
});

it("excludes three processes that count under it", async () => {
  const folder = tempFolder();
  const [file, counter] = [join(folder, "lock"), join(folder, "counter")];
  const runs = Array.from({ length: 3 }, () => runChild(program, [file, counter, "40"]));
  for (const { code } of await Promise.all(runs)) expect(code).toBe(0);
  const lines = readFileSync(counter, "utf8").trimEnd().split("\n");
  expect(lines).toHaveLength(240);
  for (let at = 0; at < lines.length; at += 2) {
    expect(lines[at + 1]).toBe(lines[at]?.replace("begin", "end"));
  }
});

it("stops waiting when the caller's signal says so", async () => {
  const file = join(tempFolder(), "lock");
  await using _lock = await acquireLock(file, ALONE);
  const controller = new AbortController();
  const reason = new Error("enough");
  const waiting = acquireLock(file, { ...ALONE, signal: controller.signal });
  controller.abort(reason);
  await expect(waiting).rejects.toMatchObject({ code: "OPERATION_TIMEOUT", cause: reason });
});

it("does not take the lock of a file that was removed or replaced meanwhile", async () => {
  const folder = tempFolder();
  const file = join(folder, "lock");
  const child = await holder(file);
  const waiting = acquireLock(file, ALONE);
  await new Promise((resolve) => setTimeout(resolve, 20));
  writeFileSync(join(folder, "new"), "");
  const { ino } = statSync(join(folder, "new"));
  renameSync(join(folder, "new"), file);
  child.process.kill("SIGKILL");
  await using _lock = await waiting;
  expect(statSync(file).ino).toBe(ino);
  await expect(acquireLock(file, AT_ONCE)).rejects.toMatchObject({ code: "PLAN_BUSY" });
  await child.result;
});

it("does not keep the lock of a file that was replaced between its opening and its locking", async () => {
  const folder = tempFolder();
  const file = join(folder, "lock");
  writeFileSync(join(folder, "new"), "");
  // The first call that locks comes two seconds late.
  const inject = ["-e", "trace=flock", "-e", "inject=flock:delay_enter=2000000:when=1"];
  const wrapper = ["strace", "-f", "-qq", "-o", join(folder, "trace"), ...inject];
  const child = await startChild(program, [file], { wrapper });
  const held = once(child.process.stdout, "data");
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5));
  renameSync(join(folder, "new"), file);
  await held;
  await expect(acquireLock(file, AT_ONCE)).rejects.toMatchObject({ code: "PLAN_BUSY" });
  child.process.stdin.end();
  await child.result;
  expect(readFileSync(join(folder, "trace"), "utf8").match(/flock\(/g)).toHaveLength(2);
});

it("says that the folder is gone when it is", async () => {
  const folder = join(tempFolder(), "gone");
  await expect(acquireLock(join(folder, "lock"), ALONE)).rejects.toMatchObject({ code: "ENOENT" });
});

it("locks a folder without leaving anything in it", async () => {
  const folder = tempFolder();
  const before = statSync(folder, { bigint: true });
  {
    await using _lock = await acquireFolderLock(folder, "key", ALONE);
    await expect(acquireFolderLock(folder, "key", AT_ONCE)).rejects.toMatchObject({
      code: "PLAN_BUSY",
    });
    await expect(acquireFolderLock(folder, "other key", AT_ONCE)).rejects.toMatchObject({
      code: "PLAN_BUSY",
    });
  }
  await using _again = await acquireFolderLock(folder, "key", AT_ONCE);
  const after = statSync(folder, { bigint: true });
  expect([after.mtimeNs, after.ctimeNs]).toEqual([before.mtimeNs, before.ctimeNs]);
  rmSync(folder, { recursive: true });
});
