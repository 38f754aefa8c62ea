import { createHash } from "node:crypto";
import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { RecordDamagedError } from "../errors/index.ts";
import { isErrno } from "../platform/native/native-error.ts";
import { type Replacement, createFileOnce, replaceFiles } from "./durable-file.ts";

/** One kind of durable record. */
export interface RecordFormat<Data> {
  /** Lower-case letters and dashes. */
  readonly name: string;
  /** The version that this release writes. */
  readonly version: number;
  /** Whether parsed data has the shape of this kind. */
  readonly isData: (value: unknown) => value is Data;
}

type Damage = RecordDamagedError["data"]["reason"];

const HEADER = /^\{"format":"([a-z-]+)","version":(\d{1,9}),"checksum":"([0-9a-f]{64})","data":/;
const LONGEST_HEADER = 256;
const END = "}\n";

/** The text of a record: one line of JSON with the checksum of its data. */
export function encodeRecord<Data>(format: RecordFormat<Data>, data: Data): string {
  const text = JSON.stringify(data);
  const { name, version } = format;
  return `{"format":"${name}","version":${version},"checksum":"${sha256(text)}","data":${text}${END}`;
}

/**
 * Reads the bytes of a record back; every byte counts.
 * @throws RecordDamagedError (`RECORD_DAMAGED`) for anything that is not exactly a record of this kind.
 */
export function decodeRecord<Data>(format: RecordFormat<Data>, bytes: Buffer, file: string): Data {
  const header = HEADER.exec(bytes.toString("latin1", 0, LONGEST_HEADER));
  const whole =
    bytes.length >= END.length && bytes.toString("latin1", bytes.length - END.length) === END;
  if (header === null) throw damaged(file, whole ? "malformed" : "truncated");
  const [{ length }, name, version, checksum] = header;
  if (name !== format.name) throw damaged(file, "malformed");
  if (Number(version) > format.version) throw damaged(file, "newerFormat");
  if (Number(version) !== format.version) throw damaged(file, "malformed");
  if (!whole || bytes.length < length + END.length) throw damaged(file, "truncated");
  const body = bytes.subarray(length, -END.length);
  if (sha256(body) !== checksum) throw damaged(file, "checksum");
  const data: unknown = JSON.parse(body.toString("utf8"));
  if (!format.isData(data)) throw damaged(file, "malformed");
  return data;
}

/**
 * The data of a record file; null when there is none.
 * @throws RecordDamagedError (`RECORD_DAMAGED`); nothing is ever guessed from a damaged file.
 */
export function readRecordSync<Data>(file: string, format: RecordFormat<Data>): Data | null {
  const bytes = readWhole(file);
  return bytes === null ? null : decodeRecord(format, bytes, file);
}

/** As `readRecordSync`, for callers that chain promises. */
export async function readRecord<Data>(
  file: string,
  format: RecordFormat<Data>,
): Promise<Data | null> {
  return Promise.resolve(readRecordSync(file, format));
}

/** What a record file is going to be; see `Replacement` for the folder of the draft. */
export function recordReplacement<Data>(
  file: string,
  format: RecordFormat<Data>,
  data: Data,
  draftFolder?: string,
): Replacement {
  return { path: file, content: encodeRecord(format, data), draftFolder };
}

/** Replaces a record file whole and durably. */
export async function writeRecord<Data>(
  file: string,
  format: RecordFormat<Data>,
  data: Data,
  draftFolder?: string,
): Promise<void> {
  await replaceFiles([recordReplacement(file, format, data, draftFolder)]);
}

/** Writes a record file that must not exist yet; false when another was first. Durable in both cases. */
export async function createRecord<Data>(
  file: string,
  format: RecordFormat<Data>,
  data: Data,
): Promise<boolean> {
  return createFileOnce(file, encodeRecord(format, data));
}

/** Whether parsed JSON is an object with at least these fields. */
export function hasFields(
  value: unknown,
  fields: Readonly<Record<string, "string" | "number" | "boolean" | "object">>,
): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const candidate = value as Record<string, unknown>;
  return Object.entries(fields).every(([name, type]) => typeof candidate[name] === type);
}

function readWhole(file: string): Buffer | null {
  try {
    const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
    try {
      return readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return null;
    if (isErrno(error, "ELOOP", "EISDIR")) throw damaged(file, "malformed");
    throw error;
  }
}

function damaged(file: string, reason: Damage): RecordDamagedError {
  const hints: Partial<Record<Damage, string>> = {
    newerFormat: "Use the release of cofferdam that wrote this state directory, or a newer one.",
  };
  return new RecordDamagedError(`The record ${file} cannot be trusted (${reason})`, {
    data: { file, reason },
    operation: "readRecord",
    hint:
      hints[reason] ??
      "Nothing was changed. Look at the file, restore it from a backup, or move it away to give the sandbox up.",
  });
}

function sha256(data: string | Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}
