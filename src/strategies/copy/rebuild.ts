import {
  CheckpointError,
  SandboxError,
  SandboxRollbackError,
  describeThrown,
} from "../../errors/index.ts";
import { type BytePath, displayPath } from "../../model/byte-path.ts";
import { removeFolder } from "../../tree/remove-folders.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { type Manifest } from "../../tree/scan/manifest.ts";
import { type Generation, switchGeneration, writeManifest } from "./generation.ts";
import { type CopyMode, type MadeCopy, buildGeneration } from "./make-copy.ts";

/** How a workspace takes the place of another. */
export interface Rebuild {
  readonly place: SandboxPlace;
  /** The workspace that counts until the new one does. */
  readonly old: Generation;
  readonly source: BytePath;
  readonly mode: CopyMode;
  /** What the new workspace is compared with; writes what belongs beside it. */
  readonly manifestOf?: (made: MadeCopy) => Manifest | Promise<Manifest>;
  /** The checkpoint that is restored; null for a rollback. */
  readonly checkpointId: string | null;
}

/**
 * Builds a fresh workspace and switches to it. Nothing of one that cannot be finished remains.
 * @throws SandboxError when the workspace is as before; anything else when it is not sure which one counts.
 */
export async function rebuild(request: Rebuild): Promise<void> {
  const { place, old, source, mode } = request;
  let made: MadeCopy | undefined;
  try {
    made = await buildGeneration(place, old.number + 1, source, mode);
    const manifest = (await request.manifestOf?.(made)) ?? made.manifest;
    await writeManifest(made.generation.folder, manifest);
  } catch (thrown) {
    if (made !== undefined) removeFolder(made.generation.folder);
    throw asBefore(request, thrown);
  }
  await switchGeneration(place, made.generation);
}

function asBefore({ place, old, checkpointId }: Rebuild, thrown: unknown): SandboxError {
  if (thrown instanceof SandboxError) return thrown;
  const message = `The workspace could not be built again: ${describeThrown(thrown)}`;
  const hint = `Everything is as before, in ${displayPath(old.tree)}: remove the cause and try again.`;
  const { sandboxId } = place;
  if (checkpointId === null) {
    return new SandboxRollbackError(message, {
      operation: "rollback",
      sandboxId,
      hint,
      cause: thrown,
      data: { reason: "io", originalRestored: true, undoDataAt: null, asideAt: null },
    });
  }
  return new CheckpointError(message, {
    operation: "restoreCheckpoint",
    sandboxId,
    hint,
    cause: thrown,
    data: { checkpointId, reason: "failed" },
  });
}
