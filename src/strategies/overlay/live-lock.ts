import { setTimeout } from "node:timers/promises";
import { OperationTimeoutError } from "../../errors/index.ts";
import type { BytePath } from "../../model/byte-path.ts";
import { steadyMs } from "../../platform/clock.ts";
import { OPEN, close, flock, openAt } from "../../platform/native/index.ts";
import { NAMES, withFolder } from "./sandbox-files.ts";

const PAUSE_MS = 10;

/**
 * Opens the lock of a sandbox as one of those who keep a view alive. Whoever inherits the descriptor holds the lock
 * until it ends, also a server in the background; the caller closes its own.
 */
export function shareLiveLock(directory: BytePath): Promise<number> {
  return withFolder(directory, (dirFd) => {
    const fd = openLock(dirFd);
    flock(fd, "shared", false);
    return fd;
  });
}

/** Runs alone, or not at all: null when somebody keeps a view alive. */
export function runAlone<T>(
  directory: BytePath,
  work: () => T | Promise<T>,
): Promise<{ readonly result: T } | null> {
  return withFolder(directory, async (dirFd) => {
    const fd = openLock(dirFd);
    try {
      return flock(fd, "exclusive", true) ? { result: await work() } : null;
    } finally {
      close(fd);
    }
  });
}

/**
 * Waits until nobody keeps a view alive any more.
 * @throws OperationTimeoutError (`OPERATION_TIMEOUT`).
 */
export async function waitUntilQuiet(directory: BytePath, limitMs: number): Promise<void> {
  const deadline = steadyMs() + limitMs;
  while ((await runAlone(directory, () => true)) === null) {
    if (steadyMs() >= deadline) {
      throw new OperationTimeoutError("A program that serves or uses the sandbox does not end", {
        data: { limitMs, childEnded: false },
        hint: "End the program (`ps` shows fuse-overlayfs and commands that run in the sandbox), then call again.",
      });
    }
    await setTimeout(PAUSE_MS);
  }
}

function openLock(dirFd: number): number {
  return openAt(dirFd, NAMES.live, OPEN.readWrite | OPEN.create | OPEN.noFollow, 0o600);
}
