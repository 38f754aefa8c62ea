import { createHash } from "node:crypto";
import { readSync } from "node:fs";
import type { BytePath } from "../model/byte-path.ts";
import { AT, OPEN, close, openAt } from "../platform/native/index.ts";

const CHUNK_BYTES = 1 << 20;
const READ = OPEN.readOnly | OPEN.noFollow | OPEN.nonBlocking;

let first: Buffer | undefined;
let second: Buffer | undefined;

/** Whether two regular files hold the same bytes; both are opened without following links. */
export function haveEqualContent(
  leftDirFd: number,
  leftName: string,
  rightDirFd: number,
  rightName: string,
): boolean {
  first ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
  second ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const left = openAt(leftDirFd, leftName, READ);
  try {
    const right = openAt(rightDirFd, rightName, READ);
    try {
      for (let at = 0; ;) {
        const got = readSync(left, first, 0, CHUNK_BYTES, at);
        const other = fill(right, second, got, at);
        if (got !== other) return false;
        if (got === 0) return readSync(right, second, 0, 1, at) === 0;
        if (first.compare(second, 0, got, 0, got) !== 0) return false;
        at += got;
      }
    } finally {
      close(right);
    }
  } finally {
    close(left);
  }
}

function fill(fd: number, into: Buffer, length: number, at: number): number {
  let filled = 0;
  while (filled < length) {
    const got = readSync(fd, into, filled, length - filled, at + filled);
    if (got === 0) break;
    filled += got;
  }
  return filled;
}

/** SHA-256 of a regular file in hex; opened without following a link in the last part. */
export function hashFile(path: BytePath): string {
  return hashAt(AT.workingDirectory, path);
}

/** SHA-256 of a regular file of an open directory in hex. */
export function hashAt(dirFd: number, name: string): string {
  first ??= Buffer.allocUnsafeSlow(CHUNK_BYTES);
  const fd = openAt(dirFd, name, READ);
  try {
    const hash = createHash("sha256");
    for (let at = 0; ;) {
      const got = readSync(fd, first, 0, CHUNK_BYTES, at);
      if (got === 0) return hash.digest("hex");
      hash.update(first.subarray(0, got));
      at += got;
    }
  } finally {
    close(fd);
  }
}
