import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { PlanBusyError } from "../errors/index.ts";
import { acquireLock } from "../locks/file-lock.ts";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import { fillFolder, syncFolder } from "./durable-file.ts";
import { COMMIT_DRAFT, OpenTransaction, decisionIn, isReversedIn } from "./open-transaction.ts";
import { encodeRecord, readRecordSync } from "./record-file.ts";
import {
  DECISION,
  DONE,
  type Done,
  INTENT,
  type Intent,
  OWNER,
  type Owner,
} from "./transaction-record.ts";

/** The transactions of one state directory: `tx/<ulid>/` while they run, `done/<ulid>.json` afterwards. */
export class TransactionLog {
  readonly #running: string;
  readonly #done: string;

  constructor(stateDirectory: string) {
    this.#running = join(stateDirectory, "tx");
    this.#done = join(stateDirectory, "done");
  }

  /**
   * Begins a transaction: when the promise settles, its intent is durable and its lock is held. It becomes visible in
   * one step with both, so whoever finds it without a living owner knows that the owner died.
   */
  async begin(ulid: string, intent: Intent): Promise<OpenTransaction> {
    const draft = this.#draft(ulid);
    const folder = join(this.#running, ulid);
    mkdirSync(draft, { mode: 0o700 });
    let lock: AsyncDisposable | undefined;
    try {
      lock = await acquireLock(join(draft, "lock"), { exclusive: true, timeoutMs: 0 });
      await fillFolder(draft, {
        "owner.json": encodeRecord(OWNER, describeOwner(intent.at)),
        "intent.json": encodeRecord(INTENT, intent),
        [COMMIT_DRAFT]: encodeRecord(DECISION, { decision: "COMMIT" }),
      });
      renameSync(draft, folder);
      await syncFolder(this.#running);
    } catch (error) {
      await lock?.[Symbol.asyncDispose]();
      rmSync(draft, { recursive: true, force: true });
      throw error;
    }
    return new OpenTransaction(folder, this.#doneFile(ulid), lock);
  }

  /** Takes a transaction over; `busy` when its owner lives, `gone` when there is none. */
  async open(ulid: string): Promise<OpenTransaction | "busy" | "gone"> {
    const folder = join(this.#running, ulid);
    try {
      statSync(folder);
      const lock = await acquireLock(join(folder, "lock"), { exclusive: true, timeoutMs: 0 });
      return new OpenTransaction(folder, this.#doneFile(ulid), lock);
    } catch (error) {
      if (error instanceof PlanBusyError) return "busy";
      throwUnlessErrno(error, "ENOENT");
      return "gone";
    }
  }

  /** Whether the transaction still has something to be done. */
  isRunning(ulid: string): boolean {
    return existsSync(join(this.#running, ulid));
  }

  /** The intent, read without the lock. */
  intentOf(ulid: string): Intent | null {
    return readRecordSync(join(this.#running, ulid, "intent.json"), INTENT);
  }

  /** What became of a running transaction for those who have it all, read without the lock; null when nothing has yet. */
  decidedIn(ulid: string): "published" | "reversed" | null {
    const folder = join(this.#running, ulid);
    if (isReversedIn(folder)) return "reversed";
    return decisionIn(folder) === "COMMIT" ? "published" : null;
  }

  /** Who ran or runs the transaction. */
  ownerOf(ulid: string): Owner | null {
    return readRecordSync(join(this.#running, ulid, "owner.json"), OWNER);
  }

  /** The outcome; null when none was recorded, which means that nothing was committed. */
  outcomeOf(ulid: string): Done | null {
    return readRecordSync(this.#doneFile(ulid), DONE);
  }

  /** Whether an outcome was recorded. */
  hasOutcome(ulid: string): boolean {
    return existsSync(this.#doneFile(ulid));
  }

  /** Forgets an outcome that nothing goes back to any more. */
  forgetOutcome(ulid: string): void {
    rmSync(this.#doneFile(ulid), { force: true });
  }

  /** Where the transaction's records lie while it runs. */
  folderOf(ulid: string): string {
    return join(this.#running, ulid);
  }

  /** Ids of the transactions that are not cleared away, oldest first. */
  list(): string[] {
    return readdirSync(this.#running).filter(isVisible).toSorted();
  }

  /** Ids of the transactions with a recorded outcome, oldest first. */
  history(): string[] {
    const names = readdirSync(this.#done).filter((name) => name.endsWith(".json"));
    return names
      .filter(isVisible)
      .map((name) => name.slice(0, -".json".length))
      .toSorted();
  }

  /** Removes a transaction that never became visible. The caller knows that its owner is dead. */
  discardDraft(ulid: string): void {
    rmSync(this.#draft(ulid), { recursive: true, force: true });
  }

  /** Removes a transaction without asking anybody. */
  async discard(ulid: string): Promise<void> {
    rmSync(join(this.#running, ulid), { recursive: true, force: true });
    await syncFolder(this.#running);
  }

  /** Removes what was being taken away when the process died. */
  sweep(): void {
    const names = readdirSync(this.#running).filter((name) => name.startsWith(".old-"));
    for (const name of names) rmSync(join(this.#running, name), { recursive: true, force: true });
  }

  #draft(ulid: string): string {
    return join(this.#running, `.new-${ulid}`);
  }

  #doneFile(ulid: string): string {
    return join(this.#done, `${ulid}.json`);
  }
}

function describeOwner(since: string): Owner {
  return {
    pid: process.pid,
    host: hostname(),
    startTime: ownStartTime(),
    bootId: textOf("/proc/sys/kernel/random/boot_id"),
    since,
  };
}

function ownStartTime(): string | null {
  const line = textOf("/proc/self/stat");
  // The program's name, in parentheses, may hold spaces; the start time is the 20th field after it.
  return line?.slice(line.lastIndexOf(")") + 2).split(" ")[19] ?? null;
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return null;
  }
}

function isVisible(name: string): boolean {
  return !name.startsWith(".");
}
