import { writeSync } from "node:fs";
import { InsufficientSpaceError } from "../errors/index.ts";
import { type BytePath, displayPath } from "../model/byte-path.ts";
import { OPEN, cloneFile, close, openAt, statFileSystem } from "../platform/native/index.ts";
import { withRoot } from "./scan/open-directory.ts";

/** For the folders' own blocks, records and journals. */
const SPARE_BYTES = 1 << 20;
const BYTES_PER_ENTRY = 64;

/** A copy that is about to be made in a folder. */
export interface CopyNeed {
  /** Bytes of content. */
  readonly bytes: number;
  readonly entries: number;
  /** `auto` needs no room for content where files can share blocks. */
  readonly reflink: "auto" | "never";
}

/**
 * Refuses before the first byte when a copy cannot fit.
 * @throws InsufficientSpaceError (`INSUFFICIENT_SPACE`) with what is needed and what is free.
 */
export function checkSpace(folder: BytePath, { bytes, entries, reflink }: CopyNeed): void {
  const { freeBlocks, blockSize, inodes, freeInodes } = withRoot(folder, statFileSystem);
  const fileSystem = displayPath(folder);
  const refuse = (needed: number, free: number, unit: "bytes" | "inodes"): never => {
    throw new InsufficientSpaceError(`Not enough room in ${fileSystem}`, {
      operation: "create",
      hint: "Free some space, or use the overlay strategy.",
      data: { needed, free, fileSystem, unit },
    });
  };
  if (inodes > 0 && entries > freeInodes) refuse(entries, freeInodes, "inodes");
  const [needed, free] = [bytes + entries * BYTES_PER_ENTRY + SPARE_BYTES, freeBlocks * blockSize];
  if (needed > free && !(reflink === "auto" && canShareBlocks(folder)))
    refuse(needed, free, "bytes");
}

/** Whether files in this folder can share blocks, by trying it. Leaves nothing behind. */
export function canShareBlocks(folder: BytePath): boolean {
  return withRoot(folder, (fd) => {
    const source = openAt(fd, ".", OPEN.readWrite | OPEN.temporary, 0o600);
    const target = openAt(fd, ".", OPEN.readWrite | OPEN.temporary, 0o600);
    try {
      writeSync(source, Buffer.alloc(4096, 1));
      return cloneFile(source, target);
    } finally {
      close(source);
      close(target);
    }
  });
}
