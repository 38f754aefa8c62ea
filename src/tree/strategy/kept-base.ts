import { mkdir } from "node:fs/promises";
import type { CallOptions } from "../../contract/strategy.ts";
import { SandboxCreationError, SandboxPathError } from "../../errors/index.ts";
import { type RelativePath, displayPath, toBytePath } from "../../model/byte-path.ts";
import { removeBeneath } from "../beneath.ts";
import { checkSpace } from "../check-space.ts";
import { copyTree } from "../copy-tree.ts";
import { removeFolder } from "../remove-folders.ts";
import { runTask } from "../threads/pool.ts";
import type { SandboxPlace } from "../workspace.ts";
import { baseFolder } from "./ancestors.ts";

/** A copy of the base that was made before the workspace. */
export interface KeptBase {
  /** Drops what somebody changed while the workspace was being made: which of the two is its base is not certain. */
  settle(): Promise<void>;
}

/**
 * Copies the whole base aside (shared blocks where possible) when the resource asks for it by `base: "keep"`, so that
 * every path has a proven ancestor for merges; null when it does not ask.
 * @throws SandboxCreationError, InsufficientSpaceError
 */
export async function keepBase(
  place: SandboxPlace,
  epoch: number,
  options: CallOptions = {},
): Promise<KeptBase | null> {
  if (!isWanted(place)) return null;
  const target = baseFolder(place, epoch);
  await mkdir(displayPath(target), { mode: 0o700 });
  const { root, only, exclude } = place;
  const { manifest } = await copyTree({
    source: root,
    target,
    only,
    exclude,
    reflink: "auto",
    signal: options.signal,
    beforeCopy: (bytes, entries) =>
      checkSpace(place.directory, { bytes, entries, reflink: "auto" }),
  });
  return {
    async settle() {
      const base = { manifest: manifest.toBytes() };
      const changed = await runTask("findDrift", { root, only, exclude, touched: [], base });
      for (const { path, pathBytes } of changed) {
        const input = pathBytes === undefined ? path : Buffer.from(pathBytes, "hex");
        forget(place, epoch, toBytePath(input) as RelativePath);
      }
    },
  };
}

function isWanted({ resource }: SandboxPlace): boolean {
  const wanted = resource.properties?.["base"];
  if (wanted === undefined) return false;
  if (wanted === "keep") return true;
  throw new SandboxCreationError(`There is no way ${JSON.stringify(wanted)} to treat the base`, {
    operation: "create",
    resourceId: resource.resourceId,
    hint: 'Use base: "keep", or leave it out.',
    data: { stage: "properties", residue: [] },
  });
}

function forget(place: SandboxPlace, epoch: number, path: RelativePath): void {
  const base = baseFolder(place, epoch);
  try {
    removeBeneath(base, path);
  } catch (error) {
    if (!(error instanceof SandboxPathError)) throw error;
    // A folder that even its owner may not write to: rather no ancestors at all than one that is not certain.
    if (error.data.reason !== "missing") removeFolder(base);
  }
}
