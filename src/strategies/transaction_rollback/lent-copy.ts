import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { syncFolder } from "../../journal/durable-file.ts";
import {
  type RecordFormat,
  hasFields,
  readRecordSync,
  writeRecord,
} from "../../journal/record-file.ts";

/** What is known of a copy that was handed out. */
export interface LentRecord {
  /** The id that the write with its edits has in the log. */
  readonly write: string;
  /** The file as it was handed out; it is written to by nobody as long as it is the same. */
  readonly state: string;
  /** The name of the file. */
  readonly name: string;
}

const LENT: RecordFormat<LentRecord> = {
  name: "database-lent",
  version: 1,
  isData: (value): value is LentRecord =>
    hasFields(value, { write: "string", state: "string", name: "string" }),
};

/**
 * The private copy of a database that a command works on, in the folder of its sandbox: `shown/` is what the command
 * sees, with its journals; `before.db` is what it was. The record is written last and says that both are whole.
 */
export class LentCopy {
  readonly #folder: string;

  constructor(sandboxFolder: string) {
    this.#folder = join(sandboxFolder, "lent");
  }

  /** The state that the command began with. */
  get before(): string {
    return join(this.#folder, "before.db");
  }

  /** What is known of the copy; null when none was handed out. */
  record(): LentRecord | null {
    return readRecordSync(this.#record, LENT);
  }

  /** The file that the command works on. */
  shown({ name }: Pick<LentRecord, "name">): string {
    return join(this.#folder, "shown", name);
  }

  /** Makes both files; `fill` writes what the sandbox shows to the first. Durable when the promise settles. */
  async make(
    location: string,
    write: string,
    fill: (target: string) => Promise<void>,
  ): Promise<string> {
    this.remove();
    const name = basename(location);
    const file = this.shown({ name });
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    await fill(file);
    copyFileSync(file, this.before, constants.COPYFILE_FICLONE);
    syncFile(this.before);
    resemble(file, location);
    resemble(dirname(file), dirname(location));
    await syncFolder(dirname(file));
    await writeRecord(this.#record, LENT, { write, state: stateOf(file), name });
    return file;
  }

  /** Whether nobody has written to the copy. */
  isUntouched(record: LentRecord): boolean {
    const file = this.shown(record);
    const isAlone = readdirSync(dirname(file)).length === 1;
    return isAlone && stateOf(file) === record.state;
  }

  remove(): void {
    rmSync(this.#record, { force: true });
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Puts the copy out of the way of later calls, and gives where its file is from now on. */
  setAside(record: LentRecord): string {
    const aside = join(this.#folder, "..", `untaken-${record.write}`);
    renameSync(this.#folder, aside);
    return join(aside, "shown", record.name);
  }

  get #record(): string {
    return join(this.#folder, "lent.json");
  }
}

/** Different after every change of the file. */
function stateOf(file: string): string {
  const found = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) return "gone";
  return [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(" ");
}

/** Whoever may use the real one may use the copy, as far as that can be had. */
function resemble(path: string, model: string): void {
  const { mode, uid, gid } = statSync(model);
  if (process.geteuid?.() === 0) chownSync(path, uid, gid);
  chmodSync(path, mode & 0o7777);
}

function syncFile(path: string): void {
  const descriptor = openSync(path, constants.O_RDONLY);
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
