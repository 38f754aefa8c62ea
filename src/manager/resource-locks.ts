import { resourceRoot } from "../journal/resource-root.ts";
import { acquireFolderLock, type FileLock } from "../locks/file-lock.ts";
import type { Engine } from "./engine.ts";

/**
 * Locks the real folders of resources against other plans, always in the order of device and inode, so that two plans
 * that share resources never wait for each other. Locations that are no paths need no lock of ours.
 */
export async function lockResources(
  engine: Engine,
  locations: readonly string[],
  signal?: AbortSignal,
): Promise<AsyncDisposable> {
  const held: FileLock[] = [];
  const release = async (): Promise<void> => {
    for (const lock of held.toReversed()) await lock[Symbol.asyncDispose]();
  };
  const { lockTimeoutMs: timeoutMs } = engine.limits;
  try {
    for (const { folder, key } of foldersOf(locations)) {
      held.push(await acquireFolderLock(folder, key, { exclusive: true, timeoutMs, signal }));
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { [Symbol.asyncDispose]: release };
}

function foldersOf(locations: readonly string[]): { folder: string; key: string }[] {
  const roots = locations.map(resourceRoot).filter((root) => root !== null);
  roots.sort((a, b) => compare(a.device, b.device) || compare(a.inode, b.inode));
  const keyed = roots.map(({ folder, device, inode }) => ({ folder, key: `${device}:${inode}` }));
  // Two resources may live in one folder, as two single files do.
  return keyed.filter(({ key }, at) => key !== keyed[at - 1]?.key);
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
