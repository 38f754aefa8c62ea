import { linkSync, mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { CheckpointError, RecordDamagedError } from "../../errors/index.ts";
import { syncFolder } from "../../journal/durable-file.ts";
import { fileNameOf } from "../../journal/id-key.ts";
import { createRecord, readRecordSync, writeRecord } from "../../journal/record-file.ts";
import { LOG_END, LOG_RECORD, type LogEnd, type LogRecord, type LoggedWrite } from "./log-entry.ts";

/**
 * The durable log of one sandbox. Every write is a file of its own that names the one before it, so that a checkpoint is
 * the name of the last one, and going back loses nothing that another checkpoint needs. Each file is absent or complete.
 */
export class StatementLog {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Makes the empty log. */
  async make(): Promise<void> {
    this.#makeFolders();
    await this.#begin({ last: null });
  }

  /** Makes a log with the writes of another one up to a kept end. They share files, which nobody ever changes. */
  async makeFrom(source: StatementLog, checkpointId: string): Promise<void> {
    const end = source.#kept(checkpointId, "fork");
    this.#makeFolders();
    for (let id = end.last; id !== null;) {
      const { parent } = source.#read(id);
      linkSync(source.#file(id), this.#file(id));
      id = parent;
    }
    await syncFolder(join(this.folder, "writes"));
    await this.#begin(end);
  }

  #makeFolders(): void {
    mkdirSync(join(this.folder, "writes"), { recursive: true, mode: 0o700 });
    mkdirSync(join(this.folder, "checkpoints"), { mode: 0o700 });
  }

  async #begin(end: LogEnd): Promise<void> {
    await writeRecord(this.#end, LOG_END, end);
    await syncFolder(join(this.folder, ".."));
  }

  /** All writes, the first one first. */
  writes(): readonly LoggedWrite[] {
    const found: LoggedWrite[] = [];
    for (let id = this.#last(); id !== null;) {
      const record = this.#read(id);
      found.push(record);
      id = record.parent;
    }
    return found.toReversed();
  }

  /** Adds a write under an id that nobody used; durable when the promise settles. */
  async append(id: string, write: LoggedWrite): Promise<void> {
    // One that was begun and never became part of the log is in nobody's way.
    if (!this.endsWith(id)) rmSync(this.#file(id), { force: true });
    await createRecord(this.#file(id), LOG_RECORD, { ...write, parent: this.#last() });
    await writeRecord(this.#end, LOG_END, { last: id });
  }

  /** Whether a write of this id is the last one. */
  endsWith(id: string): boolean {
    return this.#last() === id;
  }

  /** Forgets all writes; checkpoints keep theirs. */
  async clear(): Promise<void> {
    await writeRecord(this.#end, LOG_END, { last: null });
  }

  /** Gives all writes up, also those of checkpoints, and their room. */
  async erase(): Promise<void> {
    await this.clear();
    for (const kind of ["writes", "checkpoints"]) {
      rmSync(join(this.folder, kind), { recursive: true, force: true });
      mkdirSync(join(this.folder, kind), { mode: 0o700 });
    }
  }

  /** How many bytes the writes take. */
  size(): number {
    const files = readdirSync(join(this.folder, "writes"));
    return files.reduce((sum, name) => sum + statSync(join(this.folder, "writes", name)).size, 0);
  }

  /** Keeps the present end under an id. */
  async keep(checkpointId: string): Promise<void> {
    await writeRecord(this.#checkpoint(checkpointId), LOG_END, { last: this.#last() });
  }

  /** Goes back, or forward, to a kept end. */
  async restore(checkpointId: string): Promise<void> {
    await writeRecord(this.#end, LOG_END, this.#kept(checkpointId, "restoreCheckpoint"));
  }

  /** Drops a kept end. */
  drop(checkpointId: string): void {
    rmSync(this.#checkpoint(checkpointId), { force: true });
  }

  get #end(): string {
    return join(this.folder, "end.json");
  }

  #kept(checkpointId: string, operation: "fork" | "restoreCheckpoint"): LogEnd {
    const kept = readRecordSync(this.#checkpoint(checkpointId), LOG_END);
    if (kept !== null) return kept;
    throw new CheckpointError(`There is no checkpoint ${checkpointId}`, {
      data: { checkpointId, reason: "unknown" },
      operation,
    });
  }

  #read(id: string): LogRecord {
    const file = this.#file(id);
    const record = readRecordSync(file, LOG_RECORD);
    if (record === null) throw lost(file);
    return record;
  }

  #last(): string | null {
    const end = readRecordSync(this.#end, LOG_END);
    if (end === null) throw lost(this.#end);
    return end.last;
  }

  #file(id: string): string {
    return join(this.folder, "writes", `${fileNameOf(id)}.json`);
  }

  #checkpoint(id: string): string {
    return join(this.folder, "checkpoints", `${fileNameOf(id)}.json`);
  }
}

function lost(file: string): RecordDamagedError {
  return new RecordDamagedError(`The record ${file} is missing`, {
    data: { file, reason: "truncated" },
    operation: "readRecord",
    hint: "Nothing was changed. Restore the file from a backup, or clean the sandbox up.",
  });
}
