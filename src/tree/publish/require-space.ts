import { InsufficientSpaceError } from "../../errors/index.ts";
import { type BytePath, displayPath } from "../../model/byte-path.ts";
import { FILE_SYSTEM, statFileSystem } from "../../platform/native/index.ts";
import type { CopyOptions } from "../copy-entry.ts";

/** Room for the records of one change: two lines of a plan, one of the steps, one of what was applied. */
const RECORD_BYTES = 1024;
const RECORD_FILES = 8;
const SHARES_BLOCKS: readonly number[] = [FILE_SYSTEM.btrfs, FILE_SYSTEM.xfs];

/** What staging is going to take. */
export interface SpaceNeed {
  /** Sizes of the files that are copied. */
  readonly copies: readonly number[];
  /** Directories and links that are made. */
  readonly made: number;
  readonly changes: number;
}

/**
 * Makes sure, before anything is written, that the stage will fit.
 * @throws InsufficientSpaceError (`INSUFFICIENT_SPACE`) with what is needed and what is free.
 */
export function requireSpace(
  folderFd: number,
  place: BytePath,
  need: SpaceNeed,
  reflink: CopyOptions["reflink"],
): void {
  const info = statFileSystem(folderFd);
  const blocksOf = (size: number): number => Math.ceil(size / info.blockSize);
  const isShared = reflink !== "never" && SHARES_BLOCKS.includes(info.type);
  const data = isShared ? 0 : need.copies.reduce((sum, size) => sum + blocksOf(size), 0);
  const blocks = data + need.made + RECORD_FILES + blocksOf(need.changes * RECORD_BYTES);
  const fileSystem = displayPath(place);
  if (blocks > info.freeBlocks) {
    throw new InsufficientSpaceError("there is not enough room to stage the changes", {
      data: {
        needed: blocks * info.blockSize,
        free: info.freeBlocks * info.blockSize,
        fileSystem,
        unit: "bytes",
      },
    });
  }
  const inodes = need.copies.length + need.made + RECORD_FILES;
  if (info.inodes > 0 && inodes > info.freeInodes) {
    throw new InsufficientSpaceError("there are not enough inodes to stage the changes", {
      data: { needed: inodes, free: info.freeInodes, fileSystem, unit: "inodes" },
    });
  }
}
