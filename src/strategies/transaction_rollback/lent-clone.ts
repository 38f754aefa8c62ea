import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import {
  type RecordFormat,
  hasFields,
  readRecordSync,
  writeRecord,
} from "../../journal/record-file.ts";

/** What is known of the clones of a sandbox. */
export interface CloneRecord {
  /** The id that the write with a command's edits has in the log; null when no clone is handed out. */
  readonly write: string | null;
  /** Whether both clones were made whole, so that a command may have worked in one. */
  readonly isWhole: boolean;
  /** Names of clones whose edits could not be taken. */
  readonly aside: readonly string[];
}

const CLONES: RecordFormat<CloneRecord> = {
  name: "database-clones",
  version: 1,
  isData: (value): value is CloneRecord =>
    hasFields(value, { isWhole: "boolean", aside: "object" }) &&
    "write" in value &&
    Array.isArray(value["aside"]),
};

const NONE: CloneRecord = { write: null, isWhole: false, aside: [] };
/** A server cuts longer names off. */
const LONGEST_PREFIX = 24;

/** The names of a sandbox's clones. They are told by the sandbox alone, so that whoever comes next finds them. */
export interface CloneNames {
  /** The one that a command works in. */
  readonly shown: string;
  /** What it was before. */
  readonly before: string;
  /** The name of the first one once its command has ended. */
  readonly taken: string;
}

/** Which clones of a database a sandbox may have on the server: noted before they are made, forgotten when they are gone. */
export class LentClone {
  readonly #file: string;

  constructor(sandboxFolder: string) {
    this.#file = join(sandboxFolder, "clones.json");
  }

  /** What is known; no clone may be there of which nothing is. */
  record(): CloneRecord {
    return readRecordSync(this.#file, CLONES) ?? NONE;
  }

  /** Durable when the promise settles. */
  async note(changes: Partial<CloneRecord>): Promise<void> {
    const record = { ...this.record(), ...changes };
    if (record.write !== null || record.aside.length > 0)
      return writeRecord(this.#file, CLONES, record);
    // Without a sync: a record that comes back after a power loss only makes somebody look once more.
    rmSync(this.#file, { force: true });
  }
}

/** The names of a sandbox's clones: the beginning is that of the database, for people who list them. */
export function cloneNames(database: string, sandboxId: string): CloneNames {
  const beginning = database.replaceAll(/[^a-zA-Z0-9_]+/g, "_").slice(0, LONGEST_PREFIX);
  const digest = createHash("sha256").update(sandboxId).digest("hex").slice(0, 16);
  const shown = `${beginning}_coffer_${digest}`;
  return { shown, before: `${shown}_before`, taken: `${shown}_taken` };
}

/** The name of a clone whose edits could not be taken. */
export function untakenName({ shown }: CloneNames, write: string): string {
  return `${shown}_${createHash("sha256").update(write).digest("hex").slice(0, 8)}`;
}
