import { type BytePath, type RelativePath, nameOf, parentOf } from "../../model/byte-path.ts";
import {
  StatBuffer,
  chmodAt,
  chownAt,
  fchmod,
  futimens,
  setXattrAt,
  statAt,
  statFd,
  throwUnlessErrno,
} from "../../platform/native/index.ts";
import { lookAt } from "./entry-record.ts";
import type { FolderCache } from "./folder-cache.ts";
import { moveEntry } from "./move-entry.ts";
import { readRecord, writeRecord } from "./record-file.ts";
import { isSlotFolder } from "./slot.ts";
import { SourceFolders } from "./source-folders.ts";

/** A file of the sandbox that was, or is about to be, renamed into the stage. */
export interface MovedSource {
  /** Place below the folder of staged entries. */
  readonly staged: RelativePath;
  readonly source: BytePath;
  readonly ino: bigint;
  /** Overlay marks that are taken off in the stage, and put back when the file goes back. */
  readonly marks: Readonly<Record<string, string>> | null;
  /** What the source had, where the published file gets something else. */
  readonly attributes: { readonly mode: number; readonly uid: number; readonly gid: number } | null;
}

/** All moves of a stage, and the folders below which their sources lie. */
export interface MovePlan {
  readonly roots: readonly BytePath[];
  readonly moves: readonly MovedSource[];
  /** Modification times of the folders that hold the sources, before anything was moved. */
  readonly times: readonly SourceTime[];
}

/** When a folder that holds sources was changed last; `inside` is one of them. */
export interface SourceTime {
  readonly inside: BytePath;
  readonly mtimeNs: bigint;
}

type PackedMove = readonly [
  staged: string,
  source: string,
  ino: string,
  marks: MovedSource["marks"],
  attributes: MovedSource["attributes"],
];

interface PackedPlan {
  readonly roots: readonly string[];
  readonly moves: readonly PackedMove[];
  readonly times?: readonly (readonly [inside: string, mtimeNs: string])[];
}

const NAME = "plan";

/** The times of the folders from which files are going to be moved. */
export function sourceTimes(moves: readonly MovedSource[], sources: SourceFolders): SourceTime[] {
  const found = new Map<string, SourceTime>();
  for (const { source: inside } of moves) {
    const folder = inside.slice(0, -nameOf(inside).length);
    if (found.has(folder)) continue;
    found.set(folder, { inside, mtimeNs: statFd(sources.open(inside)).mtimeNs });
  }
  return [...found.values()];
}

/** Records durably which files are going to be moved, so that each finds its way back after a crash at any moment. */
export function writeMovePlan(stageFd: number, { roots, moves, times }: MovePlan): void {
  const packed: PackedPlan = {
    roots,
    moves: moves.map((moved) => [
      moved.staged,
      moved.source,
      moved.ino.toString(),
      moved.marks,
      moved.attributes,
    ]),
    times: times.map(({ inside, mtimeNs }) => [inside, mtimeNs.toString()]),
  };
  writeRecord(stageFd, NAME, packed, "now");
}

/** The files that were going to be moved; none when nothing was recorded, because then nothing was moved. */
export function readMovePlan(stageFd: number): MovePlan {
  const packed = (readRecord(stageFd, NAME) ?? { roots: [], moves: [] }) as PackedPlan;
  return {
    roots: packed.roots as readonly BytePath[],
    moves: packed.moves.map(([staged, source, ino, marks, attributes]) => ({
      staged: staged as RelativePath,
      source: source as BytePath,
      ino: BigInt(ino),
      marks,
      attributes,
    })),
    times: (packed.times ?? []).map(([inside, mtimeNs]) => ({
      inside: inside as BytePath,
      mtimeNs: BigInt(mtimeNs),
    })),
  };
}

/**
 * Renames every moved file that lies in the stage back to where it came from, marks and attributes and the times of
 * the folders included. Idempotent. Gives those whose place is taken or gone: they stay in the stage.
 */
export function returnMoves(
  { roots, moves, times }: MovePlan,
  entries: FolderCache,
): MovedSource[] {
  using sources = new SourceFolders(roots);
  const stat = new StatBuffer();
  const stuck: MovedSource[] = [];
  for (const moved of moves) {
    const fd = stagedFolder(entries, moved.staged);
    const name = nameOf(moved.staged);
    if (fd === null || !lookAt(stat, fd, name) || stat.ino !== moved.ino) continue;
    try {
      const sourceFd = sources.open(moved.source);
      restore(moved, fd, name);
      moveEntry(fd, name, sourceFd, nameOf(moved.source));
    } catch (error) {
      throwUnlessErrno(error, "EEXIST", "ENOENT", "ENOTDIR", "ELOOP");
      stuck.push(moved);
    }
  }
  for (const { inside, mtimeNs } of times) returnTime(sources, inside, mtimeNs);
  return stuck;
}

function returnTime(sources: SourceFolders, inside: BytePath, mtimeNs: bigint): void {
  try {
    futimens(sources.open(inside), null, mtimeNs);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EPERM");
  }
}

function restore({ marks, attributes }: MovedSource, fd: number, name: string): void {
  if (attributes !== null && marks !== null) chmodAt(fd, name, attributes.mode | 0o200);
  for (const [mark, value] of Object.entries(marks ?? {})) {
    setXattrAt(fd, name, mark, Buffer.from(value, "latin1"));
  }
  if (attributes === null) return;
  const { mode, uid, gid } = attributes;
  const now = statAt(fd, name);
  if (now.uid !== uid || now.gid !== gid) chownAt(fd, name, uid, gid);
  chmodAt(fd, name, mode);
}

/** The open folder of a staged place, made writable; null when it is not in the stage. */
function stagedFolder(entries: FolderCache, staged: RelativePath): number | null {
  try {
    const path = parentOf(staged);
    const fd = entries.open(path);
    // Staged folders carry their final mode, which may forbid their owner to take something out.
    if (!isSlotFolder(path) && process.geteuid?.() !== 0) fchmod(fd, statFd(fd).mode | 0o700);
    return fd;
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR");
    return null;
  }
}
