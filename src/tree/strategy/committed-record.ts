import { rm } from "node:fs/promises";
import {
  type RecordFormat,
  hasFields,
  readRecord,
  writeRecord,
} from "../../journal/record-file.ts";
import { syncFolder } from "../../journal/durable-file.ts";
import { type BytePath, displayPath } from "../../model/byte-path.ts";
import type { OpenPlace } from "../workspace.ts";

/** What a file strategy keeps of a prepared or finished commit; kept in the intent and beside the undo data. */
export interface CommitRecord {
  readonly noop: boolean;
  /** Absolute folder of staged files before, undo data after the commit (latin1). */
  readonly stage: BytePath;
  readonly ulid: string;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly message: string | null;
  readonly warnings: readonly string[];
  /** Paths (latin1) whose published content was merged from both sides. */
  readonly merged?: readonly string[];
  /** Digests of what published git indexes list, by path (latin1). */
  readonly indexes?: Readonly<Record<string, string>>;
}

const FORMAT: RecordFormat<CommitRecord> = {
  name: "committed",
  version: 1,
  isData: (value): value is CommitRecord =>
    hasFields(value, { stage: "string", ulid: "string", noop: "boolean", added: "object" }),
};

const fileOf = (place: OpenPlace): string => `${displayPath(place.directory)}/committed.json`;

/** The commit that this sandbox made and that was not taken back; null when there is none. */
export function readCommitted(place: OpenPlace): Promise<CommitRecord | null> {
  return readRecord(fileOf(place), FORMAT);
}

/** Remembers a commit durably. Idempotent. */
export async function writeCommitted(place: OpenPlace, record: CommitRecord): Promise<void> {
  await writeRecord(fileOf(place), FORMAT, record);
}

/** Forgets a commit that was taken back or given up. Idempotent. */
export async function forgetCommitted(place: OpenPlace): Promise<void> {
  await rm(fileOf(place), { force: true });
  await syncFolder(displayPath(place.directory));
}
