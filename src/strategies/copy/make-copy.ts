import { mkdir } from "node:fs/promises";
import { type BytePath, displayPath } from "../../model/byte-path.ts";
import type { Json } from "../../model/sandbox-ref.ts";
import { takeBaseTime } from "../../tree/base-time.ts";
import { canShareBlocks, checkSpace } from "../../tree/check-space.ts";
import { type CopiedTree, copyTree } from "../../tree/copy-tree.ts";
import type { Manifest } from "../../tree/scan/manifest.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { type Generation, generationOf } from "./generation.ts";
import { removeFolder } from "../../tree/remove-folders.ts";

/** How a workspace is copied: `auto` shares blocks where the file system can, `never` always copies bytes. */
export type CopyMode = "auto" | "never";

/** A finished copy that does not count yet. */
export interface MadeCopy {
  readonly generation: Generation;
  readonly manifest: Manifest;
  readonly metadata: { readonly [key: string]: Json };
}

/** Copies `source` into a new numbered workspace; on failure nothing of it remains. */
export async function buildGeneration(
  place: SandboxPlace,
  number: number,
  source: BytePath,
  mode: CopyMode,
  signal?: AbortSignal,
): Promise<MadeCopy> {
  const generation = freeGeneration(place, number);
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
      beforeCopy: (bytes, entries) =>
        checkSpace(generation.folder, { bytes, entries, reflink: mode }),
    });
    // Every edit from now on has a later ctime than anything recorded.
    takeBaseTime(generation.folder);
    return {
      generation,
      manifest: copied.manifest,
      metadata: describe(copied, mode, generation.folder),
    };
  } catch (error) {
    removeFolder(generation.folder);
    throw error;
  }
}

/** The wanted number, or the next one at which nothing stands in the way: nothing is ever copied over leftovers. */
function freeGeneration(place: SandboxPlace, wanted: number): Generation {
  for (let number = wanted; ; number++) {
    const generation = generationOf(place, number);
    if (removeFolder(generation.folder).length === 0) return generation;
  }
}

function describe(
  copied: CopiedTree,
  mode: CopyMode,
  folder: BytePath,
): { readonly [key: string]: Json } {
  // Empty files share whatever they are asked to, so they prove nothing.
  const isShared = mode === "auto" && copied.copied === 0 && canShareBlocks(folder);
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
