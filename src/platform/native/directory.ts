import { ERRNO } from "./constants.ts";
import { loadNative, type Native } from "./load-native.ts";
import { NativeError } from "./native-error.ts";
import type { NativeMemory } from "./native-memory.ts";
import { statAt } from "./stat.ts";
import { type InodeType, type StatBuffer, inodeType } from "./stat-buffer.ts";

const BUFFER_BYTES = 262_144;
const RECORD_LENGTH = 16;
const RECORD_TYPE = 18;
const RECORD_NAME = 19;
const DOT = 46;
const SEEK_SET = 0;

/** One entry of a directory; the name is latin1 text, one character per byte. */
export interface DirectoryEntry {
  readonly name: string;
  readonly type: InodeType;
}

/**
 * Reads directories record by record without allocating: `open`, then `next` until it is false. One scanner holds one
 * directory at a time, so a recursive walk collects the folders it meets and descends after the last `next`.
 */
export class DirectoryScanner {
  readonly #native: Native;
  readonly #memory: NativeMemory;
  readonly #lengths: Uint16Array;
  #fd = -1;
  #filled = 0;
  #following = 0;
  #at = 0;

  constructor() {
    this.#native = loadNative();
    this.#memory = this.#native.allocate(BUFFER_BYTES);
    this.#lengths = new Uint16Array(this.#memory.bytes.buffer);
  }

  /** Starts at the first entry of an open directory; the descriptor stays the caller's. */
  open(fd: number): void {
    if (this.#native.calls.lseek(fd, 0, SEEK_SET) < 0)
      throw new NativeError(this.#native.errno(), "lseek");
    this.#fd = fd;
    this.#filled = 0;
    this.#following = 0;
  }

  /** Moves to the next entry, `.` and `..` left out; false after the last. */
  next(): boolean {
    const { bytes } = this.#memory;
    for (;;) {
      if (this.#following >= this.#filled && !this.#fill()) return false;
      const at = this.#following;
      this.#at = at;
      this.#following = at + this.#lengths[(at + RECORD_LENGTH) >> 1]!;
      if (bytes[at + RECORD_NAME] !== DOT) return true;
      const second = bytes[at + RECORD_NAME + 1];
      if (second !== 0 && (second !== DOT || bytes[at + RECORD_NAME + 2] !== 0)) return true;
    }
  }

  /** Name of the present entry. */
  get name(): string {
    const { bytes } = this.#memory;
    const start = this.#at + RECORD_NAME;
    // Records are padded to eight bytes with leftovers, so the closing zero is the first one in the last eight.
    let end = this.#following - 8;
    if (end < start) end = start;
    while (bytes[end] !== 0) end++;
    return this.#memory.slice(start, end);
  }

  /** Type bits of the present entry as in a mode (`MODE`), or 0 where the file system does not tell. */
  get typeBits(): number {
    return this.#memory.bytes[this.#at + RECORD_TYPE]! << 12;
  }

  /** Asks about the present entry; false if it has gone meanwhile. */
  stat(into: StatBuffer): boolean {
    const errno = into.readAddress(this.#fd, this.#memory.address + this.#at + RECORD_NAME);
    if (errno === 0) return true;
    if (errno === ERRNO.ENOENT) return false;
    throw new NativeError(errno, "statx", this.name);
  }

  #fill(): boolean {
    const { calls, numbers, errno } = this.#native;
    const length = calls.syscall(
      numbers.getdents64,
      this.#fd,
      this.#memory.address,
      BUFFER_BYTES,
      0,
      0,
    );
    if (length < 0) throw new NativeError(errno(), "getdents64");
    this.#filled = length;
    this.#following = 0;
    return length > 0;
  }
}

let shared: DirectoryScanner | undefined;

/** All entries of an open directory in the order of the file system, `.` and `..` left out. */
export function readDirectory(fd: number): DirectoryEntry[] {
  shared ??= new DirectoryScanner();
  shared.open(fd);
  const entries: DirectoryEntry[] = [];
  while (shared.next()) {
    const { name, typeBits } = shared;
    entries.push({ name, type: typeBits === 0 ? statAt(fd, name).type : inodeType(typeBits) });
  }
  return entries;
}
