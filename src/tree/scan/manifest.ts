import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { joinPath } from "../../model/byte-path.ts";
import type { StatBuffer } from "../../platform/native/index.ts";
import { inodeType } from "../../platform/native/index.ts";
import { entryType } from "../read-entry.ts";
import type { Identity, TreeEntry } from "../tree-entry.ts";

const TWO_32 = 4_294_967_296;
const NANOSECONDS = 1_000_000_000n;

/** Words of one record. Times are seconds (low, high) and nanoseconds; wide numbers are low and high words. */
export const FIELD = {
  /** Type and permission bits of the base entry. */
  mode: 0,
  uid: 1,
  gid: 2,
  nlink: 3,
  size: 4,
  /** Identity of the entry in the workspace when the manifest was recorded. */
  ino: 6,
  mtime: 8,
  ctime: 11,
  /** Identity of the base entry when it was copied. */
  baseIno: 14,
  baseMtime: 16,
  baseCtime: 19,
  /** What the copy itself got: an ordinary user cannot give files away, and special bits are left out. */
  copyMode: 22,
  copyUid: 23,
  copyGid: 24,
  nameOffset: 25,
  nameLength: 26,
  parent: 27,
  childStart: 28,
  childCount: 29,
  /** Text of a symbolic link within the names. */
  targetOffset: 30,
  targetLength: 31,
  flags: 32,
  /** Free for the copier: number of the hard-link group plus one. */
  group: 33,
} as const;

/** Words per record. */
export const RECORD_WORDS = 34;

/** Flags of a record. */
export const FLAG = {
  /** The workspace entry is known to differ from the base: always looked at. */
  dirty: 1,
  /** The base has it, the workspace had not when the manifest was recorded. */
  absent: 2,
  /** Copying was skipped (special file or another mount). */
  skipped: 4,
  /** Only while copying: the same file lies in an earlier copy, of which it becomes a further name. */
  known: 8,
} as const;

const MAGIC = 0x314d4443;
const HEADER_WORDS = 8;

/**
 * What a workspace was made from: one fixed-size record per entry, the children of a folder next to each other, the
 * root first. Loading is one read; nothing is parsed.
 */
export class Manifest {
  readonly words: Uint32Array;
  readonly names: Buffer;
  readonly count: number;
  readonly #index = new Map<number, Map<string, number>>();

  constructor(words: Uint32Array, names: Buffer, count: number) {
    this.words = words;
    this.names = names;
    this.count = count;
  }

  get(record: number, field: number): number {
    return this.words[record * RECORD_WORDS + field]!;
  }

  set(record: number, field: number, value: number): void {
    this.words[record * RECORD_WORDS + field] = value;
  }

  wide(record: number, field: number): number {
    const at = record * RECORD_WORDS + field;
    return this.words[at + 1]! * TWO_32 + this.words[at]!;
  }

  setWide(record: number, field: number, value: number): void {
    const at = record * RECORD_WORDS + field;
    this.words[at] = value % TWO_32;
    this.words[at + 1] = Math.floor(value / TWO_32);
  }

  setTime(record: number, field: number, seconds: number, nanoseconds: number): void {
    const at = record * RECORD_WORDS + field;
    this.words[at] = seconds >>> 0;
    this.words[at + 1] = Math.floor(seconds / TWO_32) >>> 0;
    this.words[at + 2] = nanoseconds;
  }

  timeNs(record: number, field: number): bigint {
    const at = record * RECORD_WORDS + field;
    const seconds = BigInt.asIntN(
      64,
      (BigInt(this.words[at + 1]!) << 32n) | BigInt(this.words[at]!),
    );
    return seconds * NANOSECONDS + BigInt(this.words[at + 2]!);
  }

  name(record: number): BytePath {
    const start = this.get(record, FIELD.nameOffset);
    return this.names.toString(
      "latin1",
      start,
      start + this.get(record, FIELD.nameLength),
    ) as BytePath;
  }

  target(record: number): BytePath | null {
    const length = this.get(record, FIELD.targetLength);
    if (length === 0) return null;
    const start = this.get(record, FIELD.targetOffset);
    return this.names.toString("latin1", start, start + length) as BytePath;
  }

  path(record: number): RelativePath {
    const parts: string[] = [];
    for (let at = record; at !== 0; at = this.get(at, FIELD.parent)) parts.push(this.name(at));
    return parts.reverse().join("/") as RelativePath;
  }

  has(record: number, flag: number): boolean {
    return (this.get(record, FIELD.flags) & flag) !== 0;
  }

  raise(record: number, flag: number): void {
    this.set(record, FIELD.flags, this.get(record, FIELD.flags) | flag);
  }

  /** Records what the workspace has now. */
  setCopy(record: number, stat: StatBuffer): void {
    this.setWide(record, FIELD.ino, stat.inoNumber);
    this.setTime(record, FIELD.mtime, stat.mtimeSeconds, stat.mtimeNanoseconds);
    this.setTime(record, FIELD.ctime, stat.ctimeSeconds, stat.ctimeNanoseconds);
    this.set(record, FIELD.copyMode, stat.mode);
    this.set(record, FIELD.copyUid, stat.uid);
    this.set(record, FIELD.copyGid, stat.gid);
  }

  /** Whether the workspace entry is exactly the recorded one, so that its content need not be read. */
  isSameCopy(record: number, stat: StatBuffer): boolean {
    const { words } = this;
    const at = record * RECORD_WORDS;
    return (
      words[at + FIELD.ino] === stat.inoLow &&
      words[at + FIELD.ctime + 2] === stat.ctimeNanoseconds &&
      words[at + FIELD.mtime + 2] === stat.mtimeNanoseconds &&
      words[at + FIELD.ctime] === stat.ctimeSeconds >>> 0 &&
      words[at + FIELD.mtime] === stat.mtimeSeconds >>> 0 &&
      words[at + FIELD.ino + 1] === stat.inoHigh &&
      words[at + FIELD.copyMode] === stat.mode &&
      (words[at + FIELD.flags]! & (FLAG.dirty | FLAG.absent)) === 0
    );
  }

  /** The base entry's identity when the workspace was made. */
  baseIdentity(record: number): Identity {
    return {
      type: entryType(inodeType(this.get(record, FIELD.mode))),
      ino: BigInt(this.wide(record, FIELD.baseIno)),
      size: this.wide(record, FIELD.size),
      mtimeNs: this.timeNs(record, FIELD.baseMtime),
      ctimeNs: this.timeNs(record, FIELD.baseCtime),
    };
  }

  /** The base entry as far as it was recorded; extended attributes were not. */
  baseEntry(record: number): TreeEntry {
    return {
      ...this.baseIdentity(record),
      mode: this.get(record, FIELD.mode) & 0o7777,
      uid: this.get(record, FIELD.uid),
      gid: this.get(record, FIELD.gid),
      nlink: this.get(record, FIELD.nlink),
      dev: 0n,
      target: this.target(record),
      xattrs: null,
    };
  }

  /** Children of a folder. */
  *children(record: number): Generator<number> {
    const start = this.get(record, FIELD.childStart);
    const end = start + this.get(record, FIELD.childCount);
    for (let child = start; child < end; child++) yield child;
  }

  /** The record of a path, or -1. Folders that were asked about are remembered by name. */
  find(path: RelativePath): number {
    if (this.count === 0) return -1;
    if (path === "") return 0;
    let at = 0;
    for (const part of path.split("/")) {
      const found = this.#byName(at).get(part);
      if (found === undefined) return -1;
      at = found;
    }
    return at;
  }

  #byName(folder: number): Map<string, number> {
    let names = this.#index.get(folder);
    if (names === undefined) {
      names = new Map();
      for (const child of this.children(folder)) names.set(this.name(child), child);
      this.#index.set(folder, names);
    }
    return names;
  }

  /** Every record with its path, parents first. */
  *entries(record = 0, path = "" as RelativePath): Generator<readonly [number, RelativePath]> {
    yield [record, path];
    for (const child of this.children(record)) {
      yield* this.entries(child, joinPath(path, this.name(child)));
    }
  }

  /** The bytes to keep on disk. */
  toBytes(): Buffer {
    const header = new Uint32Array(HEADER_WORDS);
    header.set([MAGIC, 1, this.count, RECORD_WORDS, this.names.length]);
    const words = this.words.subarray(0, this.count * RECORD_WORDS);
    return Buffer.concat([
      Buffer.from(header.buffer),
      Buffer.from(words.buffer, words.byteOffset, words.byteLength),
      this.names,
    ]);
  }

  /** Reads what `toBytes` gave; null when it is not one of ours or is cut short. */
  static fromBytes(bytes: Buffer): Manifest | null {
    if (bytes.length < HEADER_WORDS * 4) return null;
    // A copy into memory of its own: the words must be aligned, and a pooled buffer need not be.
    const memory = new ArrayBuffer(bytes.length);
    const all = Buffer.from(memory);
    bytes.copy(all);
    const header = new Uint32Array(memory, 0, HEADER_WORDS);
    const [magic, version, count, stride, nameBytes] = header as unknown as [
      number,
      number,
      number,
      number,
      number,
    ];
    const wordCount = count * RECORD_WORDS;
    const end = HEADER_WORDS * 4 + wordCount * 4;
    if (
      magic !== MAGIC ||
      version !== 1 ||
      stride !== RECORD_WORDS ||
      end + nameBytes !== all.length
    ) {
      return null;
    }
    return new Manifest(
      new Uint32Array(memory, HEADER_WORDS * 4, wordCount),
      all.subarray(end),
      count,
    );
  }
}
