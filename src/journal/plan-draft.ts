import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { PlanBusyError } from "../errors/index.ts";
import { acquireLock, type FileLock } from "../locks/file-lock.ts";
import { isErrno, throwUnlessErrno } from "../platform/native/native-error.ts";
import { CREATION, type Creation } from "./creation-record.ts";
import { syncFolder } from "./durable-file.ts";
import { PLAN, creationsIn, markFile, readNames, recordFile } from "./plan-files.ts";
import { createRecord, writeRecord } from "./record-file.ts";
import { SANDBOX_RECORD, type SandboxRecord } from "./sandbox-record.ts";

/** Hidden, so that nobody takes it for a plan. */
const DRAFT = ".new-";
/** How often others may take a new draft for one of a dead process. */
const ATTEMPTS = 100;

/** A plan that dead processes may have left half made. */
export interface LeftDraft {
  readonly lockFile: string;
  /** The sandboxes that it may have. */
  creations(): Creation[];
  /** Removes the records; under the lock, and after the sandboxes. */
  remove(): void;
}

/**
 * A plan with several sandboxes that appears whole, with its lock held, or not at all. Whoever makes one disposes of it;
 * what was neither published nor removed is found by `draftsIn`.
 */
export class PlanDraft implements AsyncDisposable {
  readonly #folder: string;
  readonly #place: string;
  readonly #lock: FileLock;
  #isPublished = false;

  private constructor(folder: string, place: string, lock: FileLock) {
    this.#folder = folder;
    this.#place = place;
    this.#lock = lock;
  }

  /** Begins a plan that will lie at `place`. */
  static async begin(place: string, planId: string): Promise<PlanDraft> {
    for (let attempt = 1; ; attempt += 1) {
      const folder = join(dirname(place), `${DRAFT}${randomBytes(8).toString("hex")}`);
      mkdirSync(join(folder, "sandboxes"), { recursive: true, mode: 0o700 });
      try {
        const lock = await acquireLock(join(folder, "lock"), { exclusive: true, timeoutMs: 0 });
        const draft = new PlanDraft(folder, place, lock);
        await draft.#write(planId);
        return draft;
      } catch (error) {
        // Whoever clears away after dead processes was faster than the lock.
        const isSwept = error instanceof PlanBusyError || isErrno(error, "ENOENT");
        if (!isSwept || attempt === ATTEMPTS) throw error;
      }
    }
  }

  /** Whether the plan can be seen by others. */
  get isPublished(): boolean {
    return this.#isPublished;
  }

  /** Notes durably that a sandbox is being made. */
  async beginCreation(creation: Creation): Promise<void> {
    await writeRecord(markFile(this.#folder, creation.sandboxId), CREATION, creation);
  }

  /** Writes the record of a sandbox durably. */
  async put(record: SandboxRecord): Promise<void> {
    await writeRecord(recordFile(this.#folder, record.ref.sandboxId), SANDBOX_RECORD, record);
  }

  /** Makes the plan appear, durably; false when there is one of this id already. The marks stay and mean nothing then. */
  async publish(): Promise<boolean> {
    try {
      renameSync(this.#folder, this.#place);
    } catch (error) {
      throwUnlessErrno(error, "ENOTEMPTY", "EEXIST");
      return false;
    }
    this.#isPublished = true;
    try {
      await syncFolder(dirname(this.#place));
    } catch (error) {
      // What is not sure to stay must not be relied on by anybody.
      renameSync(this.#place, this.#folder);
      this.#isPublished = false;
      throw error;
    }
    return true;
  }

  /** Removes the records; after the sandboxes. */
  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lock[Symbol.asyncDispose]();
  }

  async #write(planId: string): Promise<void> {
    try {
      await createRecord(join(this.#folder, "plan.json"), PLAN, { planId });
    } catch (error) {
      this.remove();
      await this.#lock[Symbol.asyncDispose]();
      throw error;
    }
  }
}

/** All drafts in a folder of plans, of living processes too: those hold the lock. */
export function draftsIn(plans: string): LeftDraft[] {
  const folders = readNames(plans)
    .filter((name) => name.startsWith(DRAFT))
    .map((name) => join(plans, name));
  return folders.map((folder) => ({
    lockFile: join(folder, "lock"),
    creations: () => creationsIn(folder),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }));
}
