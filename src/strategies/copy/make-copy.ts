import { writeSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { InsufficientSpaceError } from "../../errors/index.ts";
import { type BytePath, displayPath } from "../../model/byte-path.ts";
import type { Json } from "../../model/sandbox-ref.ts";
import { OPEN, cloneFile, close, openAt, statFileSystem } from "../../platform/native/index.ts";
import { takeBaseTime } from "../../tree/base-time.ts";
import { type CopiedTree, copyTree } from "../../tree/copy-tree.ts";
import type { Manifest } from "../../tree/scan/manifest.ts";
import { withRoot } from "../../tree/scan/open-directory.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { type Generation, generationOf } from "./generation.ts";
import { removeFolder } from "./remove-folders.ts";

/** How a workspace is copied: `auto` shares blocks where the file system can, `never` always copies bytes. */
export type CopyMode = "auto" | "never";

/** A finished copy that does not count yet. */
export interface MadeCopy {
  readonly generation: Generation;
  readonly manifest: Manifest;
  readonly metadata: { readonly [key: string]: Json };
}

const SPARE_BYTES = 16 << 20;

/** Copies `source` into a new numbered workspace; on failure nothing of it remains. */
export async function buildGeneration(
  place: SandboxPlace,
  number: number,
  source: BytePath,
  mode: CopyMode,
  signal?: AbortSignal,
): Promise<MadeCopy> {
  const generation = generationOf(place, number);
  removeFolder(generation.folder);
  await mkdir(displayPath(generation.tree), { recursive: true, mode: 0o700 });
  try {
    const exclude = source === place.root ? place.exclude : [];
    const copied = await copyTree({
      source,
      target: generation.tree,
      only: place.only,
      exclude,
      reflink: mode,
      signal,
      beforeCopy: (bytes, entries) => checkSpace(generation.folder, bytes, entries, mode),
    });
    // Every edit from now on has a later ctime than anything recorded.
    takeBaseTime(generation.folder);
    return { generation, manifest: copied.manifest, metadata: describe(copied, mode) };
  } catch (error) {
    removeFolder(generation.folder);
    throw error;
  }
}

function describe(copied: CopiedTree, mode: CopyMode): { readonly [key: string]: Json } {
  const isShared = mode === "auto" && copied.copied === 0;
  const reason =
    mode === "never"
      ? "this strategy always copies bytes"
      : isShared
        ? "the file system shares blocks"
        : "the file system cannot share blocks between files";
  return {
    mode: isShared ? "reflink" : "copy",
    reason,
    skipped: copied.skipped.map((entry) => ({ ...entry })),
    ...(copied.ownersLost > 0 && { ownersNotKept: copied.ownersLost }),
    ...(copied.xattrsLost > 0 && { attributesNotKept: copied.xattrsLost }),
  };
}

/** Refuses before the first byte when the copy cannot fit. */
function checkSpace(folder: BytePath, bytes: number, entries: number, mode: CopyMode): void {
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
  const free = freeBlocks * blockSize;
  const fits = bytes + SPARE_BYTES <= free;
  if (!fits && !(mode === "auto" && canShareBlocks(folder))) refuse(bytes, free, "bytes");
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
