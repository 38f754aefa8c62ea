import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, link, readFile, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { RecordDamagedError, saveContent } from "cofferdam";
import {
  appendLines,
  linesOf,
  makeFolder,
  replaceFile,
  syncFolder,
  textOf,
} from "./durable-files.ts";
import type { Edit } from "./object-state.ts";
import { TransactionLog } from "./transaction-log.ts";

/** What a sandbox does, by key. */
export type Edits = ReadonlyMap<string, Edit>;

/** The commit by which a sandbox was published, and the transaction that knows its versions. */
export interface Published {
  readonly ulid: string;
}

/** The folder of one sandbox: its edits, their contents, its checkpoints and what its transactions did. */
export class Place {
  readonly folder: string;

  constructor(stateDirectory: string, sandboxId: string) {
    this.folder = join(stateDirectory, "buckets", sandboxId.replaceAll(/[^\w-]/g, "_"));
  }

  /** Makes the folder, without edits or with those that another sandbox kept. */
  async make(from?: { readonly place: Place; readonly checkpointId: string }): Promise<void> {
    await makeFolder(join(this.folder, ".."));
    for (const path of [this.folder, this.#contents, this.#checkpoints, this.#transactions])
      await makeFolder(path);
    const lines = from === undefined ? [] : await from.place.#kept(from.checkpointId);
    if (from !== undefined) await this.#takeContents(from.place, lines);
    await replaceFile(this.#draft, text(lines));
  }

  get isThere(): boolean {
    return existsSync(this.folder);
  }

  /** Removes everything; what is left of it after a crash is found by the same name. */
  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** All edits, in the order of their keys. */
  async edits(): Promise<Edits> {
    return folded(this.#draft, await linesOf(this.#draft));
  }

  /** Notes edits, or with null that there is none any more; all of them or, after a crash, none. */
  async note(edits: ReadonlyMap<string, Edit | null>): Promise<void> {
    // One line, because a line is there whole or not at all.
    if (edits.size > 0) await appendLines(this.#draft, [JSON.stringify([...edits])]);
  }

  /** Forgets all edits; checkpoints stay, and so do the contents that they may need. */
  async clear(): Promise<void> {
    await replaceFile(this.#draft, "");
    const isNeeded = (await readdir(this.#checkpoints)).length > 0;
    if (isNeeded) return;
    for (const name of await readdir(this.#contents)) await rm(join(this.#contents, name));
  }

  /** Keeps a content on the disk and gives its hash. */
  save(content: Uint8Array): Promise<string> {
    return saveContent(this.#contents, content);
  }

  /**
   * A content that was kept.
   * @throws RecordDamagedError (`RECORD_DAMAGED`) when it is not what was kept.
   */
  async content(hash: string): Promise<Buffer> {
    const file = join(this.#contents, hash);
    const content = await readFile(file);
    if (createHash("sha256").update(content).digest("hex") === hash) return content;
    throw damaged(file, "checksum");
  }

  async keep(checkpointId: string): Promise<void> {
    await replaceFile(this.#checkpoint(checkpointId), text(await linesOf(this.#draft)));
  }

  async restore(checkpointId: string): Promise<void> {
    await replaceFile(this.#draft, text(await this.#kept(checkpointId)));
  }

  async dropCheckpoint(checkpointId: string): Promise<void> {
    await rm(this.#checkpoint(checkpointId), { force: true });
  }

  /** The commit that published the edits; null when they are not published. */
  async published(): Promise<Published | null> {
    const found = await textOf(this.#published);
    return found === null ? null : (parsed(this.#published, found) as Published);
  }

  async setPublished(published: Published | null): Promise<void> {
    if (published !== null) return replaceFile(this.#published, JSON.stringify(published));
    await rm(this.#published, { force: true });
    await syncFolder(this.folder);
  }

  /** What a transaction did in the bucket so far. */
  transaction(ulid: string): TransactionLog {
    return new TransactionLog(join(this.#transactions, `${ulid.replaceAll(/\W/g, "_")}.lines`));
  }

  /** All transactions of which something is known. */
  async transactions(): Promise<readonly TransactionLog[]> {
    const names = await readdir(this.#transactions);
    return names
      .filter((name) => name.endsWith(".lines"))
      .map((name) => new TransactionLog(join(this.#transactions, name)));
  }

  /** Takes the contents over that the edits of another sandbox need; each is whole or not there. */
  async #takeContents(from: Place, lines: readonly string[]): Promise<void> {
    for (const { mine } of folded(from.#draft, lines).values()) {
      if (mine === null || existsSync(join(this.#contents, mine.hash))) continue;
      const [source, target] = [from.#contents, this.#contents].map((f) => join(f, mine.hash));
      await link(source!, target!).catch(async () => {
        await copyFile(source!, `${target}.tmp`);
        await rename(`${target}.tmp`, target!);
      });
    }
    await syncFolder(this.#contents);
  }

  async #kept(checkpointId: string): Promise<string[]> {
    const file = this.#checkpoint(checkpointId);
    if ((await textOf(file)) === null) throw new Error(`there is no checkpoint ${checkpointId}`);
    return linesOf(file);
  }

  #checkpoint(checkpointId: string): string {
    const name = createHash("sha256").update(checkpointId).digest("hex");
    return join(this.#checkpoints, name);
  }

  get #draft(): string {
    return join(this.folder, "edits.lines");
  }

  get #contents(): string {
    return join(this.folder, "contents");
  }

  get #checkpoints(): string {
    return join(this.folder, "checkpoints");
  }

  get #transactions(): string {
    return join(this.folder, "transactions");
  }

  get #published(): string {
    return join(this.folder, "published.json");
  }
}

function folded(file: string, lines: readonly string[]): Edits {
  const edits = new Map<string, Edit>();
  for (const line of lines) {
    for (const [key, edit] of parsed(file, line) as [string, Edit | null][]) {
      if (edit === null) edits.delete(key);
      else edits.set(key, edit);
    }
  }
  const order = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
  return new Map([...edits].sort(([a], [b]) => order(a, b)));
}

function parsed(file: string, line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw damaged(file, "malformed");
  }
}

function damaged(file: string, reason: "checksum" | "malformed"): RecordDamagedError {
  return new RecordDamagedError(`${file} is damaged`, {
    data: { file, reason },
    hint: "Nothing was guessed from it. Roll the sandbox back, or restore the file.",
  });
}

function text(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
