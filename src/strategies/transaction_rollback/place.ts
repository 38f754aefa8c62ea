import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import {
  type RecordFormat,
  hasFields,
  readRecordSync,
  recordReplacement,
  writeRecord,
} from "../../journal/record-file.ts";
import {
  type Draft,
  draftFiles,
  nameDrafts,
  removeTemporaries,
  syncFolder,
} from "../../journal/durable-file.ts";
import { fileNameOf } from "../../journal/id-key.ts";
import { claimPrivateFolder } from "../../journal/private-folder.ts";
import { LentClone } from "./lent-clone.ts";
import { LentCopy } from "./lent-copy.ts";
import { StatementLog } from "./statement-log.ts";

/** What may stand prepared on the server, and how far it came. */
export interface PreparedMark {
  readonly name: string;
  /** `rolledBack` and `committing` are written before the server is told. */
  readonly state: "preparing" | "committing" | "rolledBack";
}

/** The commit that the sandbox was last published by. */
export interface CommittedMark {
  readonly ulid: string;
  /** False once the rows that an undo needs are given up. */
  readonly undoable: boolean;
}

const PREPARED: RecordFormat<{ readonly marks: readonly PreparedMark[] }> = {
  name: "database-prepared",
  version: 1,
  isData: (value): value is { readonly marks: readonly PreparedMark[] } =>
    hasFields(value, { marks: "object" }) && Array.isArray(value["marks"]),
};

const COMMITTED: RecordFormat<CommittedMark> = {
  name: "database-committed",
  version: 1,
  isData: (value): value is CommittedMark =>
    hasFields(value, { ulid: "string", undoable: "boolean" }),
};

/** The folder of one sandbox: its log, and what is known about its transactions. */
export class DatabasePlace {
  readonly folder: string;
  readonly log: StatementLog;
  readonly lent: LentCopy;
  readonly clone: LentClone;

  constructor(stateDirectory: string, sandboxId: string) {
    this.folder = join(stateDirectory, "databases", fileNameOf(sandboxId));
    this.log = new StatementLog(this.folder);
    this.lent = new LentCopy(this.folder);
    this.clone = new LentClone(this.folder);
  }

  /** The place of a sandbox that was made. */
  static of(stateDirectory: string, { sandboxId }: SandboxRef): DatabasePlace {
    return new DatabasePlace(stateDirectory, sandboxId);
  }

  /** Makes the folder and the empty log, or one that begins with what another sandbox kept. */
  async make(from?: {
    readonly place: DatabasePlace;
    readonly checkpointId: string;
  }): Promise<void> {
    const problem = await claimPrivateFolder(join(this.folder, ".."));
    if (problem !== null) throw new Error(`${join(this.folder, "..")} is ${problem}`);
    if (from === undefined) await this.log.make();
    else await this.log.makeFrom(from.place.log, from.checkpointId);
  }

  get isThere(): boolean {
    return existsSync(this.folder);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Everything that may stand prepared on the server. */
  marks(): readonly PreparedMark[] {
    return readRecordSync(this.#prepared, PREPARED)?.marks ?? [];
  }

  /** Notes how far a prepared transaction came; durable when the promise settles. */
  async mark(name: string, state: PreparedMark["state"]): Promise<void> {
    await writeRecord(this.#prepared, PREPARED, this.#marksWith(name, state));
  }

  /** Notes that a transaction is about to be prepared; gives what `setCommitted` then only has to name. */
  async markPreparing(name: string, committed: CommittedMark): Promise<Draft> {
    const marks = this.#marksWith(name, "preparing");
    const [noted, draft] = await draftFiles([
      recordReplacement(this.#prepared, PREPARED, marks),
      recordReplacement(this.#committed, COMMITTED, committed),
    ]);
    await nameDrafts([noted]);
    return draft;
  }

  /** Forgets transactions that are settled. */
  async unmark(...names: readonly string[]): Promise<void> {
    const all = this.marks();
    const marks = all.filter(({ name }) => !names.includes(name));
    if (marks.length === all.length) return;
    if (marks.length > 0) await writeRecord(this.#prepared, PREPARED, { marks });
    // Without a sync: a mark that comes back after a power loss only makes somebody look once more.
    else rmSync(this.#prepared, { force: true });
  }

  /** The commit that published the log; null when it is not published. */
  committed(): CommittedMark | null {
    return readRecordSync(this.#committed, COMMITTED);
  }

  /** Notes by what the log is published, or that it is not; `draft` is the same mark, written before. */
  async setCommitted(mark: CommittedMark | null, draft?: Draft): Promise<void> {
    if (draft !== undefined) return nameDrafts([draft]);
    if (mark !== null) return writeRecord(this.#committed, COMMITTED, mark);
    rmSync(this.#committed, { force: true });
    await syncFolder(this.folder);
  }

  /** Removes what killed processes left half written. The caller knows that nobody writes here. */
  sweep(): void {
    removeTemporaries(this.folder);
  }

  #marksWith(
    name: string,
    state: PreparedMark["state"],
  ): { readonly marks: readonly PreparedMark[] } {
    const others = this.marks().filter((mark) => mark.name !== name);
    return { marks: [...others, { name, state }] };
  }

  get #prepared(): string {
    return join(this.folder, "prepared.json");
  }

  get #committed(): string {
    return join(this.folder, "committed.json");
  }
}
