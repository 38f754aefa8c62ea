import { ERRNO } from "./constants.ts";
import { NativeError } from "./native-error.ts";

/** A path or name for a system call: latin1 text (a `BytePath` is one) or the bytes themselves. */
export type ByteName = string | Uint8Array;

/** Longest path that the kernel takes, without the closing zero. */
export const MAX_PATH_BYTES = 4095;

/** A byte name as latin1 text, for error messages. */
export function nameText(name: ByteName): string {
  return typeof name === "string" ? name : Buffer.from(name).toString("latin1");
}

/** What lies behind `toString("latin1")`; calling it directly halves the cost of a name, and names come in millions. */
type Latin1Buffer = Buffer & { latin1Slice(start: number, end: number): string };

/** Memory at a fixed address, shared with the kernel; lives as long as the object. */
export class NativeMemory {
  readonly bytes: Latin1Buffer;
  readonly address: number;

  constructor(size: number, addressOf: (bytes: Buffer) => number) {
    // Not from Node's pool: the address must belong to this object alone.
    this.bytes = Buffer.from(new ArrayBuffer(size)) as Latin1Buffer;
    this.address = addressOf(this.bytes);
  }

  /**
   * Puts a name here, closed by a zero, and gives its address.
   * @throws NativeError EINVAL for a name with a zero byte or with characters that are not bytes, ENAMETOOLONG.
   */
  putName(name: ByteName, syscall: string): number {
    const { bytes } = this;
    const { length } = name;
    if (length >= bytes.length) throw new NativeError(ERRNO.ENAMETOOLONG, syscall, nameText(name));
    // One pass for copying and checking: for short names this beats `write` plus a regular expression by half.
    for (let index = 0; index < length; index++) {
      const code = typeof name === "string" ? name.charCodeAt(index) : name[index]!;
      if (code === 0 || code > 0xff) throw new NativeError(ERRNO.EINVAL, syscall, nameText(name));
      bytes[index] = code;
    }
    bytes[length] = 0;
    return this.address;
  }

  /** The bytes from `start` up to `end` as latin1 text. */
  slice(start: number, end: number): string {
    return this.bytes.latin1Slice(start, end);
  }

  /** The first `length` bytes as latin1 text. */
  text(length: number): string {
    return this.bytes.latin1Slice(0, length);
  }

  /** An independent copy of the first `length` bytes. */
  copy(length: number): Buffer {
    return Buffer.from(this.bytes.subarray(0, length));
  }
}
