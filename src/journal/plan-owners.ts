import { existsSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { PlanBusyError } from "../errors/index.ts";
import { type FileLock, acquireLock } from "../locks/file-lock.ts";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import { removeIfPossible } from "./durable-file.ts";
import { idKey } from "./id-key.ts";
import { readNames } from "./plan-files.ts";
import { createRecord, hasFields, readRecordSync, type RecordFormat } from "./record-file.ts";

/** How often an owner says that it still is there: what it worked on is not idle before it ends. */
const SIGN_OF_LIFE_MS = 10 * 60_000;

/** What an open instance holds. */
interface Alive {
  readonly lock: FileLock;
  readonly timer: NodeJS.Timeout;
}

interface Kept {
  readonly at: string;
}

const KEPT: RecordFormat<Kept> = {
  name: "kept",
  version: 1,
  isData: (value): value is Kept => hasFields(value, { at: "string" }),
};

/**
 * Which instances work on which plans, and which plans outlive them. An instance holds the lock on its own file as long
 * as it is open; each plan that it works on names it. Nothing here needs to survive a power failure: then no owner does.
 */
export class PlanOwners {
  readonly #plans: string;
  readonly #owners: string;
  readonly #id: string;
  readonly #marks = new Set<string>();
  #alive: Promise<Alive> | null = null;

  constructor(stateDirectory: string, id: string) {
    this.#plans = join(stateDirectory, "plans");
    this.#owners = join(stateDirectory, "owners");
    this.#id = id;
  }

  /** Says that this instance works on a plan. Nothing for one that is not there. */
  async claim(planId: string): Promise<void> {
    const mark = join(this.#marksOf(planId), this.#id);
    if (this.#marks.has(mark) && existsSync(mark)) return;
    await this.#live();
    try {
      makeFolder(dirname(mark));
      writeFileSync(mark, "", { mode: 0o600 });
    } catch (error) {
      throwUnlessErrno(error, "ENOENT");
      return;
    }
    this.#marks.add(mark);
  }

  /** Lets a plan outlive its owners, for ever. Durable. The caller holds the plan's lock. */
  async keep(planId: string, at: string): Promise<void> {
    await createRecord(this.#keptFile(planId), KEPT, { at });
  }

  /** Whether a plan outlives its owners. */
  isKept(planId: string): boolean {
    return readRecordSync(this.#keptFile(planId), KEPT) !== null;
  }

  /** Whether an instance that works on the plan is still open, in this process or another. */
  async isOwned(planId: string): Promise<boolean> {
    for (const owner of readNames(this.#marksOf(planId))) {
      if (await this.#isAlive(owner)) return true;
    }
    return false;
  }

  /** When an owner of the plan was last known to be there, in milliseconds; 0 when it never had one. */
  lastSign(planId: string): number {
    const folder = this.#marksOf(planId);
    return Math.max(0, ...readNames(folder).map((name) => timeOf(join(folder, name))));
  }

  /** Ends the ownership of everything. The plans stay. */
  async release(): Promise<void> {
    const alive = await this.#alive;
    if (alive === null) return;
    this.#alive = null;
    clearInterval(alive.timer);
    this.#giveSign();
    this.#marks.clear();
    removeIfPossible(join(this.#owners, this.#id));
    await alive.lock[Symbol.asyncDispose]();
  }

  /** Removes the files of owners that ended without doing so. */
  async sweep(): Promise<void> {
    for (const owner of readNames(this.#owners)) await this.#isAlive(owner);
  }

  /** Once for all plans that are claimed at the same time. */
  async #live(): Promise<void> {
    this.#alive ??= this.#begin();
    try {
      await this.#alive;
    } catch (error) {
      this.#alive = null;
      throw error;
    }
  }

  async #begin(): Promise<Alive> {
    const lock = await acquireLock(join(this.#owners, this.#id), {
      exclusive: true,
      timeoutMs: 1000,
    });
    const timer = setInterval(() => this.#giveSign(), SIGN_OF_LIFE_MS).unref();
    return { lock, timer };
  }

  #giveSign(): void {
    const now = new Date();
    for (const mark of this.#marks) {
      try {
        utimesSync(mark, now, now);
      } catch {
        // The plan is gone, or nobody may write there any more: then there is nothing to protect.
        this.#marks.delete(mark);
      }
    }
  }

  async #isAlive(owner: string): Promise<boolean> {
    const file = join(this.#owners, owner);
    if (!existsSync(file)) return false;
    try {
      await using _lock = await acquireLock(file, { exclusive: true, timeoutMs: 0 });
      rmSync(file, { force: true });
      return false;
    } catch (error) {
      if (error instanceof PlanBusyError) return true;
      throw error;
    }
  }

  #marksOf(planId: string): string {
    return join(this.#plans, idKey(planId), "owners");
  }

  #keptFile(planId: string): string {
    return join(this.#plans, idKey(planId), "kept.json");
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    throwUnlessErrno(error, "EEXIST");
  }
}

function timeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
