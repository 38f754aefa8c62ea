import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { toBytePath } from "../model/byte-path.ts";
import { flock } from "../platform/native/lock.ts";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import { removeFolder } from "../tree/remove-folders.ts";
import { fileNameOf } from "./id-key.ts";
import { readNames } from "./plan-files.ts";

/** A command that runs in a plan. */
export interface RunningCommand {
  readonly pid: number | null;
  readonly host: string | null;
  readonly since: string | null;
}

/** The private folder of one run, locked by everybody who has the descriptor. */
export interface PlanRun {
  readonly folder: string;
  /** Whoever inherits it keeps the run alive until it ends. */
  readonly descriptor: number;
  /** Removes the folder and lets go of the lock; no other process of the run is left. */
  end(): void;
}

const LOCK = "lock";
const UNKNOWN: RunningCommand = { pid: null, host: null, since: null };

/**
 * The commands that run in plans: a folder each, with a lock that is free as soon as the last process of the run has
 * ended, however it ended.
 */
export class PlanRuns {
  readonly #root: string;

  constructor(stateDirectory: string) {
    this.#root = join(stateDirectory, "runs");
  }

  /** Begins a run of a plan; the caller holds the plan's lock. */
  begin(planId: string, id: string, since: string): PlanRun {
    const folder = join(this.#folderOf(planId), id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const descriptor = openSync(join(folder, LOCK), flags, 0o600);
    flock(descriptor, "exclusive", true);
    writeSync(descriptor, `${JSON.stringify({ pid: process.pid, host: hostname(), since })}\n`);
    return {
      folder,
      descriptor,
      end: () => {
        try {
          removeFolder(toBytePath(folder));
          removeIfEmpty(dirname(folder));
        } finally {
          closeSync(descriptor);
        }
      },
    };
  }

  /** The command that runs in a plan; null when there is none. */
  running(planId: string): RunningCommand | null {
    const folder = this.#folderOf(planId);
    for (const id of readNames(folder)) {
      const holder = holderOf(join(folder, id, LOCK));
      if (holder !== null) return holder;
    }
    return null;
  }

  /** Removes what killed processes have left of their runs. */
  sweep(): void {
    for (const key of readNames(this.#root)) {
      const folder = join(this.#root, key);
      for (const id of readNames(folder)) {
        if (holderOf(join(folder, id, LOCK)) === null) removeFolder(toBytePath(join(folder, id)));
      }
      removeIfEmpty(folder);
    }
  }

  #folderOf(planId: string): string {
    return join(this.#root, fileNameOf(planId));
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    throwUnlessErrno(error, "ENOTEMPTY", "EEXIST", "ENOENT");
  }
}

/** Whoever holds a lock; null when nobody does. */
function holderOf(file: string): RunningCommand | null {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDWR | constants.O_NOFOLLOW);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR");
    return null;
  }
  try {
    return flock(fd, "shared", true) ? null : ownerIn(fd);
  } finally {
    closeSync(fd);
  }
}

function ownerIn(fd: number): RunningCommand {
  try {
    return { ...UNKNOWN, ...(JSON.parse(readFileSync(fd, "utf8")) as Partial<RunningCommand>) };
  } catch {
    // Only messages tell it.
    return UNKNOWN;
  }
}
