import { AT, ERRNO, MODE } from "./constants.ts";
import { loadNative, type Native } from "./load-native.ts";
import { NativeError } from "./native-error.ts";
import { type ByteName, type NativeMemory, nameText } from "./native-memory.ts";

/** What kind of thing a directory entry is. */
export type InodeType =
  "file" | "directory" | "symlink" | "fifo" | "socket" | "characterDevice" | "blockDevice";

const STATX_BYTES = 256;
const STATX_BTIME = 0x800;
/** Basic fields, birth time, mount id. */
const WANTED = 0x7ff | STATX_BTIME | 0x1000;
const FLAGS = AT.symlinkNoFollow | AT.noAutomount;
const TWO_32 = 4_294_967_296;
const NANOSECONDS = 1_000_000_000n;

const TYPES: Readonly<Record<number, InodeType>> = {
  [MODE.file]: "file",
  [MODE.directory]: "directory",
  [MODE.symlink]: "symlink",
  [MODE.fifo]: "fifo",
  [MODE.socket]: "socket",
  [MODE.characterDevice]: "characterDevice",
  [MODE.blockDevice]: "blockDevice",
};

/** The type that the type bits of a mode stand for. */
export function inodeType(mode: number): InodeType {
  return TYPES[mode & MODE.typeMask]!;
}

/** Node's single number for a device, from its two parts. */
export function deviceNumber(major: number, minor: number): bigint {
  const [high, low] = [BigInt(major), BigInt(minor)];
  return (
    ((high & 0xfffff000n) << 32n) |
    ((high & 0xfffn) << 8n) |
    ((low & 0xffffff00n) << 12n) |
    (low & 0xffn)
  );
}

/**
 * One reusable answer of `statx`. Reading a tree with one buffer allocates nothing per entry; the getters read the
 * entry that was asked for last. The number getters are exact below 2^53.
 */
export class StatBuffer {
  readonly #native: Native;
  readonly #memory: NativeMemory;
  readonly #u32: Uint32Array;
  readonly #i32: Int32Array;
  readonly #u64: BigUint64Array;
  readonly #i64: BigInt64Array;

  constructor() {
    this.#native = loadNative();
    this.#memory = this.#native.allocate(STATX_BYTES);
    const { buffer } = this.#memory.bytes;
    this.#u32 = new Uint32Array(buffer);
    this.#i32 = new Int32Array(buffer);
    this.#u64 = new BigUint64Array(buffer);
    this.#i64 = new BigInt64Array(buffer);
  }

  /** Asks about a name in a directory; a link itself, never its target. */
  readAt(dirFd: number, name: ByteName): void {
    const address = this.#native.first.putName(name, "statx");
    if (this.#native.calls.statx(dirFd, address, FLAGS, WANTED, this.#memory.address) < 0) {
      throw new NativeError(this.#native.errno(), "statx", nameText(name));
    }
  }

  /** As `readAt`, but false instead of an error where there is no such entry. */
  readIfThere(dirFd: number, name: ByteName): boolean {
    const errno = this.readAddress(dirFd, this.#native.first.putName(name, "statx"));
    if (errno === ERRNO.ENOENT || errno === ERRNO.ENOTDIR) return false;
    if (errno !== 0) throw new NativeError(errno, "statx", nameText(name));
    return true;
  }

  /** Asks about an open file or a handle (`OPEN.pathOnly`). */
  readFd(fd: number): void {
    const address = this.#native.first.putName("", "statx");
    if (
      this.#native.calls.statx(fd, address, FLAGS | AT.emptyPath, WANTED, this.#memory.address) < 0
    ) {
      throw new NativeError(this.#native.errno(), "statx");
    }
  }

  /** Asks about the zero-closed name at an address; 0, or the error number. For `DirectoryScanner`. */
  readAddress(dirFd: number, nameAddress: number): number {
    const result = this.#native.calls.statx(
      dirFd,
      nameAddress,
      FLAGS,
      WANTED,
      this.#memory.address,
    );
    return result < 0 ? this.#native.errno() : 0;
  }

  /** Type and permission bits together. */
  get mode(): number {
    return this.#u32[7]! & 0xffff;
  }

  get type(): InodeType {
    return inodeType(this.mode);
  }

  /** Permission bits with setuid, setgid and sticky. */
  get permissions(): number {
    return this.#u32[7]! & MODE.permissionMask;
  }

  get nlink(): number {
    return this.#u32[4]!;
  }

  get uid(): number {
    return this.#u32[5]!;
  }

  get gid(): number {
    return this.#u32[6]!;
  }

  get ino(): bigint {
    return this.#u64[4]!;
  }

  get inoNumber(): number {
    return this.#u32[9]! * TWO_32 + this.#u32[8]!;
  }

  get inoLow(): number {
    return this.#u32[8]!;
  }

  get inoHigh(): number {
    return this.#u32[9]!;
  }

  get size(): bigint {
    return this.#u64[5]!;
  }

  get sizeNumber(): number {
    return this.#u32[11]! * TWO_32 + this.#u32[10]!;
  }

  /** Units of 512 bytes that the content takes on disk. */
  get blocks(): number {
    return this.#u32[13]! * TWO_32 + this.#u32[12]!;
  }

  /** Whether the entry is marked immutable or append-only, so that nobody may rename or remove it. */
  get isPinned(): boolean {
    return (this.#u32[2]! & 0x30) !== 0;
  }

  get atimeNs(): bigint {
    return this.#i64[8]! * NANOSECONDS + BigInt(this.#u32[18]!);
  }

  /** Birth time, or `null` where the file system keeps none. */
  get btimeNs(): bigint | null {
    if ((this.#u32[0]! & STATX_BTIME) === 0) return null;
    return this.#i64[10]! * NANOSECONDS + BigInt(this.#u32[22]!);
  }

  get ctimeNs(): bigint {
    return this.#i64[12]! * NANOSECONDS + BigInt(this.#u32[26]!);
  }

  get mtimeNs(): bigint {
    return this.#i64[14]! * NANOSECONDS + BigInt(this.#u32[30]!);
  }

  get ctimeSeconds(): number {
    return this.#i32[25]! * TWO_32 + this.#u32[24]!;
  }

  get ctimeNanoseconds(): number {
    return this.#u32[26]!;
  }

  get mtimeSeconds(): number {
    return this.#i32[29]! * TWO_32 + this.#u32[28]!;
  }

  get mtimeNanoseconds(): number {
    return this.#u32[30]!;
  }

  get rdevMajor(): number {
    return this.#u32[32]!;
  }

  get rdevMinor(): number {
    return this.#u32[33]!;
  }

  get devMajor(): number {
    return this.#u32[34]!;
  }

  get devMinor(): number {
    return this.#u32[35]!;
  }

  /** The device as Node's `stat` gives it. */
  get dev(): bigint {
    return deviceNumber(this.devMajor, this.devMinor);
  }

  /** Number of the mount, as in the first column of the mount table. */
  get mountId(): number {
    return this.#u32[37]! * TWO_32 + this.#u32[36]!;
  }
}
