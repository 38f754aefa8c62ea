import { realpathSync, rmdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StorageArea } from "../contract/host.ts";
import { SandboxCreationError, SandboxError, describeThrown, errnoOf } from "../errors/index.ts";
import { toBytePath } from "../model/byte-path.ts";
import { utimensAt } from "../platform/native/attributes.ts";
import { AT } from "../platform/native/constants.ts";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import { type AreaCandidate, areaCandidates } from "./area-candidates.ts";
import { listAreas, rememberArea } from "./area-list.ts";
import { claimPrivateFolder } from "./private-folder.ts";
import { renameObstacle } from "./rename-probe.ts";

/** Where an area is looked for. */
export interface AreaOptions {
  readonly stateDirectory: string;
  /** Also try the resource's parent folder inside a git work tree. */
  readonly allowParent?: boolean;
}

/** Folders of the state directory that are never a resource. */
const OWN_FOLDERS = ["area", "plans", "tx", "done"];

/**
 * Finds, and makes if need be, the private place from which renames into the resource's folder work, and remembers it.
 * The resource's content and times stay as they are.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `area`) when there is none; the message says why for each place.
 */
export async function findArea(location: string, options: AreaOptions): Promise<StorageArea> {
  const { stateDirectory, allowParent = false } = options;
  const real = realPath(location);
  const isFolder = statSync(real).isDirectory();
  const folder = isFolder ? real : dirname(real);
  const outside = dirname(real);
  refuseOwnFolders(real, stateDirectory);
  const reasons: string[] = [];
  for (const candidate of areaCandidates({ stateDirectory, folder, outside, allowParent })) {
    const problem = await claimArea(candidate, folder);
    if (problem === null) {
      await rememberArea(stateDirectory, candidate);
      return { ...candidate, ownPaths: ownPathsBelow(real, stateDirectory) };
    }
    reasons.push(`${candidate.path}: ${problem}`);
  }
  throw new SandboxCreationError(
    `There is no private place on the device of ${location} (${[...new Set(reasons)].join("; ")})`,
    {
      data: { stage: "area", residue: [] },
      operation: "create",
      hint: reasons.some((reason) => reason.endsWith("EROFS"))
        ? "The file system is mounted read-only: mount it for writing first."
        : "Put the state directory on the same file system, or allow the resource's parent folder to hold it.",
    },
  );
}

/** The absolute paths at or below a folder that hold state of this installation and are no part of any resource. */
export function ownPathsBelow(folder: string, stateDirectory: string): readonly string[] {
  const areas = listAreas(stateDirectory).map(({ path }) => path);
  const all = [stateDirectory, ...areas.filter((path) => !isBelow(path, stateDirectory))];
  return all.filter((path) => isBelow(path, folder)).toSorted();
}

async function claimArea({ path }: AreaCandidate, folder: string): Promise<string | null> {
  const parent = dirname(path);
  try {
    const early = renameObstacle(parent, folder);
    if (early !== null) return early;
    const made = await keepingTimes(parent, folder, () => claimPrivateFolder(path));
    if (made !== null) return made;
    const late = renameObstacle(path, folder);
    if (late !== null) removeIfEmpty(path);
    return late;
  } catch (error) {
    if (error instanceof SandboxError || errnoOf(error) === null) throw error;
    return describeThrown(error);
  }
}

/** An area inside the resource itself must not make the resource look changed. */
async function keepingTimes<T>(parent: string, folder: string, make: () => Promise<T>): Promise<T> {
  if (!isBelow(parent, folder)) return make();
  const before = statSync(parent, { bigint: true });
  const result = await make();
  const after = statSync(parent, { bigint: true });
  if (after.mtimeNs !== before.mtimeNs) {
    utimensAt(AT.workingDirectory, toBytePath(parent), null, before.mtimeNs);
  }
  return result;
}

function removeIfEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch (error) {
    throwUnlessErrno(error, "ENOTEMPTY", "ENOENT", "EBUSY");
  }
}

function realPath(location: string): string {
  try {
    return realpathSync(location);
  } catch (cause) {
    throw new SandboxCreationError(`${location} cannot be used: ${describeThrown(cause)}`, {
      data: { stage: "resource", residue: [] },
      operation: "create",
      hint: "Check that the path exists and that you may enter it.",
      cause,
    });
  }
}

function refuseOwnFolders(real: string, stateDirectory: string): void {
  const areas = listAreas(stateDirectory).map(({ path }) => path);
  const own = [...OWN_FOLDERS.map((name) => join(stateDirectory, name)), ...areas];
  const found = real === stateDirectory ? real : own.find((path) => isBelow(real, path));
  if (found === undefined) return;
  throw new SandboxCreationError(`${real} lies inside the state of cofferdam itself (${found})`, {
    data: { stage: "resource", residue: [] },
    operation: "create",
    hint: "Name a resource outside the state directory.",
  });
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? folder : `${folder}/`);
}
