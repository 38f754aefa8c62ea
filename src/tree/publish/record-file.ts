import { createHash } from "node:crypto";
import { readFileSync, writeSync } from "node:fs";
import { RecordDamagedError } from "../../errors/index.ts";
import { renameOver } from "./move-entry.ts";
import {
  OPEN,
  close,
  fsync,
  openAt,
  throwUnlessErrno,
  unlinkAt,
} from "../../platform/native/index.ts";

const HEADER = /^cofferdam ([a-z]+) (\d+) ([0-9a-f]{64})\n/;
const VERSION = 1;
const HEADER_LIMIT = 120;

/** Whether a record must be on disk before the call returns, or a later sync of the file system covers it. */
export type Durability = "now" | "later";

/**
 * Writes a checksummed record under a name that appears whole or not at all. Gives the checksum.
 */
export function writeRecord(
  folderFd: number,
  name: string,
  content: unknown,
  durability: Durability,
): string {
  const body = Buffer.from(JSON.stringify(content), "utf8");
  const checksum = createHash("sha256").update(body).digest("hex");
  const partial = `${name}.part`;
  removeIfThere(folderFd, partial);
  const fd = openAt(folderFd, partial, OPEN.writeOnly | OPEN.create | OPEN.exclusive, 0o600);
  try {
    writeAll(fd, Buffer.from(`cofferdam ${name} ${VERSION} ${checksum}\n`, "latin1"));
    writeAll(fd, body);
    if (durability === "now") fsync(fd);
  } finally {
    close(fd);
  }
  renameOver({ fd: folderFd, name: partial }, { fd: folderFd, name });
  if (durability === "now") fsync(folderFd);
  return checksum;
}

/**
 * Reads a record back, from under another name when it was renamed; null when there is none.
 * @throws RecordDamagedError (`RECORD_DAMAGED`) when it is not exactly what was written, or from a newer release.
 */
export function readRecord(folderFd: number, name: string, file = name): unknown {
  const bytes = readIfThere(folderFd, file);
  if (bytes === null) return null;
  const header = HEADER.exec(bytes.toString("latin1", 0, HEADER_LIMIT));
  if (header === null || header[1] !== name) throw damaged(name, "malformed");
  if (Number(header[2]) > VERSION) throw damaged(name, "newerFormat");
  const body = bytes.subarray(header[0].length);
  if (createHash("sha256").update(body).digest("hex") !== header[3]) {
    throw damaged(name, "checksum");
  }
  return JSON.parse(body.toString("utf8")) as unknown;
}

function readIfThere(folderFd: number, name: string): Buffer | null {
  try {
    const fd = openAt(folderFd, name, OPEN.readOnly | OPEN.noFollow | OPEN.nonBlocking);
    try {
      return readFileSync(fd);
    } finally {
      close(fd);
    }
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return null;
  }
}

function removeIfThere(folderFd: number, name: string): void {
  try {
    unlinkAt(folderFd, name);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
  }
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
}

function damaged(
  file: string,
  reason: "checksum" | "malformed" | "newerFormat",
): RecordDamagedError {
  return new RecordDamagedError(`the record "${file}" of a transaction cannot be trusted`, {
    data: { file, reason },
  });
}
