import { addToList } from "../../model/add-to-list.ts";
import { type RelativePath, ROOT, joinPath, nameOf, parentOf } from "../../model/byte-path.ts";
import { MODE } from "../../platform/native/index.ts";
import type { TreeEntry } from "../tree-entry.ts";
import { FIELD, FLAG, Manifest, RECORD_WORDS } from "./manifest.ts";

const NANOSECONDS = 1_000_000_000n;
const TYPE_BITS = { file: MODE.file, directory: MODE.directory, symlink: MODE.symlink, special: 0 };

/** What the workspace's own copy of a base entry was given when it was made. */
export type CopyOf = (path: RelativePath) => Pick<TreeEntry, "mode" | "uid" | "gid" | "ino"> | null;

/**
 * The same manifest with other base entries: replaced, added, or gone with everything below (null). Their entries in
 * the workspace are looked at in every comparison from now on.
 */
export function replaceRecords(
  manifest: Manifest,
  base: ReadonlyMap<RelativePath, TreeEntry | null>,
  copyOf: CopyOf,
): Manifest {
  return new Replacement(manifest, base, copyOf).run();
}

interface Pending {
  readonly path: RelativePath;
  /** The record in the old manifest; -1 for one that it has not. */
  readonly old: number;
}

class Replacement {
  readonly #old: Manifest;
  readonly #base: ReadonlyMap<RelativePath, TreeEntry | null>;
  readonly #copyOf: CopyOf;
  readonly #added = new Map<RelativePath, string[]>();
  readonly #words: Uint32Array;
  readonly #names: string[] = [];
  #nameBytes = 0;

  constructor(old: Manifest, base: ReadonlyMap<RelativePath, TreeEntry | null>, copyOf: CopyOf) {
    this.#old = old;
    this.#base = base;
    this.#copyOf = copyOf;
    this.#words = new Uint32Array((old.count + base.size) * RECORD_WORDS);
    for (const [path, entry] of base) {
      if (entry === null || path === ROOT || old.find(path) >= 0) continue;
      const folder = parentOf(path);
      addToList(this.#added, folder, nameOf(path));
    }
  }

  run(): Manifest {
    const pending: Pending[] = [{ path: ROOT, old: 0 }];
    this.#fill(pending[0]!, 0, 0);
    for (let at = 0; at < pending.length; at++) {
      const folder = pending[at]!;
      const start = pending.length;
      if (this.#isFolder(at)) {
        for (const child of this.#children(folder)) {
          this.#fill(child, pending.length, at);
          pending.push(child);
        }
      }
      this.#set(at, FIELD.childStart, start);
      this.#set(at, FIELD.childCount, pending.length - start);
    }
    const names = Buffer.from(this.#names.join(""), "latin1");
    const words = this.#words.slice(0, pending.length * RECORD_WORDS);
    return new Manifest(words, names, pending.length);
  }

  #children({ path, old }: Pending): Pending[] {
    const kept = old < 0 ? [] : [...this.#old.children(old)];
    const known = kept.map((record) => ({
      path: joinPath(path, this.#old.name(record)),
      old: record,
    }));
    const added = (this.#added.get(path) ?? []).map((name) => ({
      path: joinPath(path, name),
      old: -1,
    }));
    return [...known.filter((child) => this.#base.get(child.path) !== null), ...added];
  }

  #fill({ path, old }: Pending, record: number, parent: number): void {
    if (old >= 0) {
      const from = old * RECORD_WORDS;
      this.#words.set(this.#old.words.subarray(from, from + RECORD_WORDS), record * RECORD_WORDS);
    }
    const entry = this.#base.get(path) ?? null;
    const target = entry === null ? (old < 0 ? null : this.#old.target(old)) : entry.target;
    this.#set(record, FIELD.parent, parent);
    this.#text(record, FIELD.nameOffset, FIELD.nameLength, path === ROOT ? "" : nameOf(path));
    this.#text(record, FIELD.targetOffset, FIELD.targetLength, target ?? "");
    if (entry !== null) this.#replace(record, path, entry, old);
  }

  #replace(record: number, path: RelativePath, entry: TreeEntry, old: number): void {
    const mode = TYPE_BITS[entry.type] | entry.mode;
    this.#set(record, FIELD.mode, mode);
    this.#set(record, FIELD.uid, entry.uid);
    this.#set(record, FIELD.gid, entry.gid);
    this.#set(record, FIELD.nlink, entry.nlink);
    this.#wide(record, FIELD.size, BigInt(entry.size));
    this.#wide(record, FIELD.baseIno, entry.ino);
    this.#time(record, FIELD.baseMtime, entry.mtimeNs);
    this.#time(record, FIELD.baseCtime, entry.ctimeNs);
    const isSkipped = entry.type === "special";
    this.#set(record, FIELD.flags, FLAG.dirty | (isSkipped ? FLAG.skipped : 0));
    const copy = this.#copyOf(path);
    if (copy !== null || old < 0) {
      const own = copy ?? { ...entry, ino: 0n };
      this.#set(record, FIELD.copyMode, TYPE_BITS[entry.type] | own.mode);
      this.#set(record, FIELD.copyUid, own.uid);
      this.#set(record, FIELD.copyGid, own.gid);
      this.#wide(record, FIELD.ino, own.ino);
    }
  }

  #isFolder(record: number): boolean {
    const word = this.#words[record * RECORD_WORDS + FIELD.mode]!;
    return (word & MODE.typeMask) === MODE.directory;
  }

  #set(record: number, field: number, value: number): void {
    this.#words[record * RECORD_WORDS + field] = value >>> 0;
  }

  #wide(record: number, field: number, value: bigint): void {
    this.#set(record, field, Number(BigInt.asUintN(32, value)));
    this.#set(record, field + 1, Number(BigInt.asUintN(32, value >> 32n)));
  }

  #time(record: number, field: number, value: bigint): void {
    let seconds = value / NANOSECONDS;
    let rest = value % NANOSECONDS;
    if (rest < 0n) [seconds, rest] = [seconds - 1n, rest + NANOSECONDS];
    this.#wide(record, field, seconds);
    this.#set(record, field + 2, Number(rest));
  }

  #text(record: number, offset: number, length: number, text: string): void {
    this.#set(record, offset, this.#nameBytes);
    this.#set(record, length, text.length);
    this.#names.push(text);
    this.#nameBytes += text.length;
  }
}
