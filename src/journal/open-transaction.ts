import { renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import {
  type Replacement,
  createFileOnce,
  nameOnce,
  removeFilesIn,
  replaceFiles,
  syncFolder,
} from "./durable-file.ts";
import { encodeRecord, readRecordSync, recordReplacement, writeRecord } from "./record-file.ts";
import {
  DECISION,
  type Decision,
  DONE,
  type Done,
  INTENT,
  type Intent,
  REVERSED,
} from "./transaction-record.ts";

/** A decision to commit that only lacks its name: it is written with the intent, while nobody waits for it. */
export const COMMIT_DRAFT = "commit.json";

/** One transaction whose lock this process holds. Every write is durable when its promise settles. */
export class OpenTransaction implements AsyncDisposable {
  /** Where the records of this transaction lie. */
  readonly folder: string;
  readonly ulid: string;
  readonly #done: string;
  readonly #lock: AsyncDisposable;

  constructor(folder: string, done: string, lock: AsyncDisposable) {
    this.folder = folder;
    this.ulid = basename(folder);
    this.#done = done;
    this.#lock = lock;
  }

  /** What the transaction is about; null when its owner died before saying so. */
  intent(): Intent | null {
    return readRecordSync(join(this.folder, "intent.json"), INTENT);
  }

  /** Replaces the intent. */
  writeIntent(intent: Intent): Promise<void> {
    return writeRecord(join(this.folder, "intent.json"), INTENT, intent);
  }

  /** What was decided; null when nothing was. */
  decision(): Decision | null {
    return decisionIn(this.folder);
  }

  /** Decides, unless somebody did before; gives what counts. A failure leaves open what counts: ask `decision`. */
  async decide(proposed: Decision): Promise<Decision> {
    const file = join(this.folder, "decision");
    const isFirst =
      proposed === "COMMIT"
        ? nameOnce(file, join(this.folder, COMMIT_DRAFT))
        : createFileOnce(file, encodeRecord(DECISION, { decision: proposed }));
    return (await isFirst) ? proposed : (this.decision() ?? proposed);
  }

  /** Whether the transaction, although decided, is being taken back. */
  isReversed(): boolean {
    return isReversedIn(this.folder);
  }

  /** Marks the transaction as being taken back; before the first step back. */
  async markReversed(at: string): Promise<void> {
    await writeRecord(join(this.folder, "reversed"), REVERSED, { at });
  }

  /** The outcome, once it is recorded. */
  outcome(): Done | null {
    return readRecordSync(this.#done, DONE);
  }

  /**
   * Records the outcome, and what follows from it; only afterwards may anything be cleared away. Should the power fail
   * meanwhile, the decision is still there and leads to the same.
   */
  async finish(done: Done, following: readonly Replacement[] = []): Promise<void> {
    // Drafted where it goes with the transaction should this process die now.
    const outcome = recordReplacement(this.#done, DONE, done, this.folder);
    await replaceFiles([outcome, ...following]);
  }

  /** Removes the transaction's folder; nothing of it is needed any more. */
  async remove(): Promise<void> {
    // In one step, so that recovery never meets a transaction of which only a part is left.
    const aside = join(dirname(this.folder), `.old-${this.ulid}`);
    renameSync(this.folder, aside);
    await syncFolder(dirname(this.folder));
    removeFilesIn(aside);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#lock[Symbol.asyncDispose]();
  }
}

/** What was decided in the transaction with these records, read without the lock; null when nothing was. */
export function decisionIn(folder: string): Decision | null {
  return readRecordSync(join(folder, "decision"), DECISION)?.decision ?? null;
}

/** Whether a transaction, although decided, is being taken back; read without the lock. */
export function isReversedIn(folder: string): boolean {
  return readRecordSync(join(folder, "reversed"), REVERSED) !== null;
}
