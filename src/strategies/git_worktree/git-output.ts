import type { RelativePath } from "../../model/byte-path.ts";

/** What stands at one path on one side of a comparison; null when nothing does. */
export interface GitEntry {
  /** `100644`, `100755`, `120000` or `160000`. */
  readonly mode: string;
  readonly oid: string;
}

/** One path that differs between two trees. */
export interface RawChange {
  readonly path: RelativePath;
  readonly before: GitEntry | null;
  readonly after: GitEntry | null;
}

/** One entry of an index. */
export interface IndexEntry extends GitEntry {
  readonly path: RelativePath;
  /** 0, but for those of a conflict: 1 is the common ancestor, 2 ours, 3 theirs. */
  readonly stage: number;
}

/** The mode of a submodule. */
export const SUBMODULE = "160000";
/** The mode of a symbolic link. */
export const LINK = "120000";
/** How the modes of all files begin. */
export const FILE = "100";

const RAW = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$/;

/** The parts between zero bytes, one character a byte. */
export function splitZero(output: Buffer): string[] {
  const parts = output.toString("latin1").split("\0");
  parts.pop();
  return parts;
}

/** Input with a zero byte behind each part. */
export function joinZero(parts: readonly string[]): Buffer {
  return Buffer.from(parts.map((part) => `${part}\0`).join(""), "latin1");
}

/** Whether a line of `ls-files -s` is one of a conflict. */
export function isUnmerged(line: string): boolean {
  return line.charAt(line.indexOf("\t") - 1) !== "0";
}

/** Reads a line of `ls-files -s`. */
export function parseIndexEntry(line: string): IndexEntry {
  const cut = line.indexOf("\t");
  const [mode = "", oid = "", stage = ""] = line.slice(0, cut).split(" ");
  return { mode, oid, stage: Number(stage), path: line.slice(cut + 1) as RelativePath };
}

/** Reads `--raw -z` without renames. */
export function parseRaw(output: Buffer): RawChange[] {
  const parts = splitZero(output);
  const changes: RawChange[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [, oldMode = "", newMode = "", oldOid = "", newOid = ""] = RAW.exec(parts[at]!) ?? [];
    if (oldMode === "") throw new Error(`git wrote a line that is none of a raw diff`);
    changes.push({
      path: parts[at + 1] as RelativePath,
      before: entryOf(oldMode, oldOid),
      after: entryOf(newMode, newOid),
    });
  }
  return changes;
}

function entryOf(mode: string, oid: string): GitEntry | null {
  return mode === "000000" ? null : { mode, oid };
}
