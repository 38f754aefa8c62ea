import { ERRNO } from "./constants.ts";
import { NativeError } from "./native-error.ts";

/** A path or name for a system call: latin1 text (a `BytePath` is one) or the bytes themselves. */
export type ByteName = string | Uint8Array;

/** Longest path that the kernel takes, without the closing zero. */
export const MAX_PATH_BYTES = 4095;

const FORBIDDEN = /[^\x01-\xff]/;

/** A byte name as latin1 text, for error messages. */
export function nameText(name: ByteName): string {
  return typeof name === "string" ? name : Buffer.from(name).toString("latin1");
}

/** Memory at a fixed address, shared with the kernel; lives as long as the object. */
export class NativeMemory {
  readonly bytes: Buffer;
  readonly address: number;

  constructor(size: number, addressOf: (bytes: Buffer) => number) {
    // Not from Node's pool: the address must belong to this object alone.
    this.bytes = Buffer.from(new ArrayBuffer(size));
    this.address = addressOf(this.bytes);
  }

  /**
   * Puts a name here, closed by a zero, and gives its address.
   * @throws NativeError EINVAL for a name with a zero byte or with characters that are not bytes, ENAMETOOLONG.
   */
  putName(name: ByteName, syscall: string): number {
    const { length } = name;
    if (length >= this.bytes.length)
      throw new NativeError(ERRNO.ENAMETOOLONG, syscall, nameText(name));
    if (typeof name === "string") {
      if (FORBIDDEN.test(name)) throw new NativeError(ERRNO.EINVAL, syscall, name);
      this.bytes.write(name, 0, "latin1");
    } else {
      if (name.includes(0)) throw new NativeError(ERRNO.EINVAL, syscall, nameText(name));
      this.bytes.set(name, 0);
    }
    this.bytes[length] = 0;
    return this.address;
  }

  /** The first `length` bytes as latin1 text. */
  text(length: number): string {
    return this.bytes.toString("latin1", 0, length);
  }

  /** An independent copy of the first `length` bytes. */
  copy(length: number): Buffer {
    return Buffer.from(this.bytes.subarray(0, length));
  }
}
