import { closeSync, openSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { flock, unlock } from "../../../src/platform/native/index.ts";
import { startChild } from "../../support/child.ts";
import { codeOf, openFolder } from "../folder.ts";

const HOLDER = new URL("./programs/hold-lock.ts", import.meta.url);

function openAgain(path: string): number {
  const fd = openSync(path, "r");
  onTestFinished(() => closeSync(fd));
  return fd;
}

test("keeps a second process out until the first gives the lock back or dies", async () => {
  const { path, fd } = openFolder();
  const holder = await startChild(HOLDER, [path, "exclusive"]);
  onTestFinished(async () => {
    holder.process.kill("SIGKILL");
    await holder.result;
  });
  await new Promise((resolve) => holder.process.stdout.once("data", resolve));
  expect([flock(fd, "exclusive", true), flock(fd, "shared", true)]).toEqual([false, false]);
  holder.process.kill("SIGKILL");
  await holder.result;
  expect(flock(fd, "exclusive", true)).toBe(true);
});

test("waits for a lock when it may", async () => {
  const { path, fd } = openFolder();
  expect(flock(fd, "exclusive", true)).toBe(true);
  const waiter = await startChild(HOLDER, [path, "exclusive", "wait"]);
  onTestFinished(async () => {
    waiter.process.kill("SIGKILL");
    await waiter.result;
  });
  const locked = new Promise((resolve) => waiter.process.stdout.once("data", resolve));
  await new Promise((resolve) => waiter.process.stderr.once("data", resolve));
  unlock(fd);
  expect(String(await locked)).toBe("locked\n");
  expect(flock(fd, "shared", true)).toBe(false);
});

test("shares a shared lock and lets nobody change it under others", () => {
  const { path, fd } = openFolder();
  const second = openAgain(path);
  expect([flock(fd, "shared", true), flock(second, "shared", true)]).toEqual([true, true]);
  expect(flock(fd, "exclusive", true)).toBe(false);
  unlock(second);
  expect(flock(fd, "exclusive", true)).toBe(true);
  expect(flock(second, "shared", true)).toBe(false);
});

test("refuses a bad descriptor", () => {
  expect(codeOf(() => flock(1_000_000, "shared", true))).toBe("EBADF");
  expect(codeOf(() => unlock(1_000_000))).toBe("EBADF");
});
