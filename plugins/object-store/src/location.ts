import { SandboxCreationError, SandboxPathError } from "cofferdam";
import type { PathInput } from "cofferdam";

/** What every server accepts as the length of a key. */
const LONGEST_KEY = 1024;
const LOCATION = /^s3:\/\/(?<bucket>[a-z0-9][a-z0-9._-]{1,61}[a-z0-9])(?:\/(?<prefix>.*))?$/s;

/** A bucket, or the part of it whose keys begin with a prefix. */
export class Location {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;

  constructor(bucket: string, prefix: string) {
    this.bucket = bucket;
    this.prefix = prefix;
  }

  /**
   * Reads `s3://bucket` or `s3://bucket/prefix`.
   * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `resource`) when it is neither.
   */
  static parse(text: string): Location {
    const { bucket, prefix = "" } = LOCATION.exec(text)?.groups ?? {};
    const folders = prefix.replace(/\/$/, "");
    if (bucket === undefined || !(folders === "" || isPlainKey(folders))) {
      throw new SandboxCreationError(`${JSON.stringify(text)} is no location of a bucket`, {
        data: { stage: "resource", residue: [] },
        operation: "create",
        hint: "Write s3://bucket, or s3://bucket/prefix for the keys below a prefix.",
      });
    }
    return new Location(bucket, folders === "" ? "" : `${folders}/`);
  }

  /**
   * The key of a path, which the engine has made plain.
   * @throws SandboxPathError (`SANDBOX_PATH`) when no key can be called so.
   */
  keyOf(path: PathInput): string {
    const bytes = Buffer.from(path);
    const text = bytes.toString("utf8");
    const problem = (message: string, reason: "tooLong" | "unwritable"): SandboxPathError =>
      new SandboxPathError(message, { data: { path: text, reason } });
    if (!Buffer.from(text).equals(bytes)) throw problem("A key is UTF-8 text", "unwritable");
    const key = `${this.prefix}${text}`;
    if (Buffer.byteLength(key) > LONGEST_KEY)
      throw problem(`A key has at most ${LONGEST_KEY} bytes`, "tooLong");
    return key;
  }

  /** The path of a key below the prefix. */
  pathOf(key: string): string {
    return key.slice(this.prefix.length);
  }

  /** What the keys below a folder begin with; those of all when it is the root. */
  below(path: string): string {
    return path === "" ? this.prefix : `${this.prefix}${path}/`;
  }

  toString(): string {
    return `s3://${this.bucket}/${this.prefix}`.replace(/\/$/, "");
  }
}

/** Whether every part of a key between slashes can be the name of an entry. One slash may end it: a folder's mark. */
export function isPlainKey(key: string): boolean {
  const parts = key.replace(/\/$/, "").split("/");
  return parts.every((part) => part !== "" && part !== "." && part !== ".." && isName(part));
}

function isName(part: string): boolean {
  return !part.includes("\0") && Buffer.byteLength(part) <= 255;
}
