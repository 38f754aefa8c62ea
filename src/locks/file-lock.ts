import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { OperationTimeoutError, PlanBusyError } from "../errors/index.ts";
import { flock } from "../platform/native/lock.ts";
import { isErrno, throwUnlessErrno } from "../platform/native/native-error.ts";
import { enterQueue } from "./lock-queue.ts";

/** How a lock is asked for. */
export interface LockOptions {
  /** Alone, or side by side with other readers. */
  readonly exclusive: boolean;
  /** How long to wait; 0 tries once. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Whoever holds a lock, for messages. */
export type LockHolder = PlanBusyError["data"]["holder"];

/** A lock that is held until it is disposed of, or this process ends, however it ends. */
export type FileLock = AsyncDisposable;

const SHORTEST_PAUSE_MS = 1;
const LONGEST_PAUSE_MS = 25;
const NOBODY: LockHolder = { pid: null, host: null, since: null };

/**
 * Locks a file, made if it is not there, between processes and between calls of this process.
 * @throws PlanBusyError (`PLAN_BUSY`) when the time is over; `data.holder` tells who has it, where that is known.
 * @throws OperationTimeoutError (`OPERATION_TIMEOUT`) when the signal ended the wait; ENOENT when its folder is gone.
 */
export async function acquireLock(file: string, options: LockOptions): Promise<FileLock> {
  return acquire(file, options, {
    open: () => openSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW, 0o600),
    isStill: (fd) => isSameFile(fd, file),
    wroteOwner: options.exclusive,
    holder: () => readHolder(file),
  });
}

/**
 * Locks a folder itself, without leaving anything in it. `key` tells folders apart within this process.
 * @throws as `acquireLock` does.
 */
export async function acquireFolderLock(
  folder: string,
  key: string,
  options: LockOptions,
): Promise<FileLock> {
  return acquire(key, options, {
    open: () => openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY),
    isStill: () => true,
    wroteOwner: false,
    holder: () => NOBODY,
  });
}

interface Target {
  open(): number;
  /** Whether the locked file is the one that others will find. */
  isStill(fd: number): boolean;
  readonly wroteOwner: boolean;
  holder(): LockHolder;
}

async function acquire(key: string, options: LockOptions, target: Target): Promise<FileLock> {
  const limit = startLimit(options);
  try {
    const leave = await enterQueue(key, options.exclusive, limit.ended);
    if (leave === null) throw refusal(key, options, target);
    try {
      const fd = await lockedFile(options, target, limit.ended);
      if (fd === null) throw refusal(key, options, target);
      if (target.wroteOwner) writeOwner(fd);
      return { [Symbol.asyncDispose]: () => Promise.resolve(release(fd, target, leave)) };
    } catch (error) {
      leave();
      throw error;
    }
  } finally {
    limit.stop();
  }
}

function release(fd: number, target: Target, leave: () => void): void {
  try {
    if (target.wroteOwner) ftruncateSync(fd, 0);
  } catch {
    // Only messages read it.
  } finally {
    closeSync(fd);
    leave();
  }
}

/** One end for both reasons to stop waiting; leaves no timer and no listener behind. */
function startLimit({ timeoutMs, signal }: LockOptions): { ended: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const end = (): void => controller.abort();
  if (timeoutMs <= 0 || signal?.aborted === true) end();
  const timer = setTimeout(end, timeoutMs);
  signal?.addEventListener("abort", end, { once: true });
  return {
    ended: controller.signal,
    stop: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
    },
  };
}

async function lockedFile(
  { exclusive }: LockOptions,
  target: Target,
  ended: AbortSignal,
): Promise<number | null> {
  let wait = SHORTEST_PAUSE_MS;
  for (;;) {
    const fd = target.open();
    try {
      if (flock(fd, exclusive ? "exclusive" : "shared", true)) {
        if (target.isStill(fd)) return fd;
        // Somebody removed the file while we waited: this lock excludes nobody.
        closeSync(fd);
        continue;
      }
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    closeSync(fd);
    if (ended.aborted) return null;
    await pause(wait * (0.5 + Math.random()));
    wait = Math.min(wait * 2, LONGEST_PAUSE_MS);
  }
}

function isSameFile(fd: number, file: string): boolean {
  try {
    const [held, found] = [fstatSync(fd, { bigint: true }), statSync(file, { bigint: true })];
    return held.ino === found.ino && held.dev === found.dev;
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return false;
  }
}

function writeOwner(fd: number): void {
  const owner = { pid: process.pid, host: hostname(), since: new Date().toISOString() };
  try {
    ftruncateSync(fd, 0);
    writeSync(fd, `${JSON.stringify(owner)}\n`, 0);
  } catch {
    // Only messages read it, and a full disk must not keep anybody from cleaning up.
  }
}

function readHolder(file: string): LockHolder {
  try {
    const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      const found = JSON.parse(readFileSync(fd, "utf8")) as Partial<LockHolder>;
      const { pid = null, host = null, since = null } = found;
      return pid !== null && host === hostname() && !isAlive(pid) ? NOBODY : { pid, host, since };
    } finally {
      closeSync(fd);
    }
  } catch {
    // Held by readers, or just released: then nobody can be named.
    return NOBODY;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return isErrno(error, "EPERM");
  }
}

function refusal(key: string, options: LockOptions, target: Target): Error {
  if (options.signal?.aborted === true) {
    return new OperationTimeoutError(`The wait for the lock on ${key} was ended`, {
      data: { limitMs: options.timeoutMs, childEnded: true },
      operation: "lock",
      cause: options.signal.reason,
    });
  }
  const holder = target.holder();
  const who = holder.pid === null ? "another call or process" : `process ${holder.pid}`;
  return new PlanBusyError(`${key} is held by ${who}`, {
    data: { holder },
    operation: "lock",
    hint: "Wait until the other work has ended, or end it, and try again.",
  });
}
