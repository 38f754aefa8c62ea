import { existsSync, lstatSync, mkdirSync, realpathSync, rmSync } from "node:fs";
import { basename, dirname } from "node:path";
import type { StrategyHost } from "../../contract/host.ts";
import { SandboxCreationError, errnoOf } from "../../errors/index.ts";
import { listAreas } from "../../journal/area-list.ts";
import {
  type BytePath,
  type RelativePath,
  displayPath,
  isWithin,
  nameOf,
  toBytePath,
} from "../../model/byte-path.ts";
import type { Resource } from "../../model/resource.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import { mountAt } from "../../platform/mount-table.ts";
import type { OpenPlace, SandboxPlace } from "../workspace.ts";

/** The root of the whole file system and what every program needs: never a resource as a whole. */
const PROTECTED = new Set(["/", "/proc", "/sys", "/dev", "/run"]);

/**
 * Finds the real root of a resource and makes a private folder for a new sandbox on its device.
 * @throws SandboxCreationError (`SANDBOX_CREATION`) when the location does not fit the resource's type.
 */
export async function makePlace(
  host: StrategyHost,
  planId: string,
  resource: Resource,
): Promise<SandboxPlace> {
  const located = locate(resource);
  const area = await host.areaFor(resource.location);
  const folder = `${area.path}/sandboxes`;
  const { sandboxId } = host.newRef(planId, resource, {});
  const directory = `${folder}/${sandboxId}`;
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    mkdirSync(directory, { mode: 0o700 });
  } catch (cause) {
    throw creationError(resource, "storage", `No sandbox can be stored in ${area.path}`, cause);
  }
  const own = [area.path, host.stateDirectory].map((path) => resolved(path));
  return {
    sandboxId,
    resource,
    directory: toBytePath(directory),
    root: located.root,
    only: located.only,
    exclude: insideOf(located.root, own.map(toBytePath)),
  };
}

/** Makes a private folder for a sandbox that begins with what another one holds, beside that one's. */
export function forkPlace(
  host: StrategyHost,
  planId: string,
  { resource, directory: other, root, only, exclude }: OpenPlace,
): SandboxPlace {
  const { sandboxId } = host.newRef(planId, resource, {});
  const directory = `${other.slice(0, -nameOf(other).length)}${sandboxId}` as BytePath;
  try {
    mkdirSync(Buffer.from(directory, "latin1"), { mode: 0o700 });
  } catch (cause) {
    throw creationError(resource, "storage", "No sandbox can be stored beside the other", cause);
  }
  return { sandboxId, resource, directory, root, only, exclude };
}

/** Where a sandbox lives, from its ref; the ref was checked before. */
export async function openPlace(host: StrategyHost, ref: SandboxRef): Promise<OpenPlace> {
  const { directory, root, only, exclude } = ref.metadata;
  return {
    ref,
    sandboxId: ref.sandboxId,
    resource: await host.resourceOf(ref),
    directory: directory as BytePath,
    root: root as BytePath,
    only: (only ?? null) as BytePath | null,
    exclude: (exclude ?? []) as unknown as readonly RelativePath[],
  };
}

/** Facts about the place that go into the ref. */
export function placeMetadata(place: SandboxPlace): {
  directory: string;
  root: string;
  only: string | null;
  exclude: readonly string[];
} {
  const { directory, root, only, exclude } = place;
  return { directory, root, only, exclude };
}

/** The places of a sandbox that never came to be: its folder in whichever area it was begun. */
export function unfinishedPlaces(
  host: StrategyHost,
  resource: Resource,
  sandboxId: string,
): SandboxPlace[] {
  const areas = listAreas(host.stateDirectory).map(({ path }) => path);
  const folders = new Set([`${host.stateDirectory}/area`, ...areas]);
  const directories = [...folders].map((area) => toBytePath(`${area}/sandboxes/${sandboxId}`));
  return directories
    .filter((directory) => existsSync(displayPath(directory)))
    .map((directory) => {
      const root = toBytePath(resource.location);
      return { sandboxId, resource, directory, root, only: null, exclude: [] };
    });
}

/**
 * Where the workspace of a copying strategy lives: the sandbox's own folder, or one of its own in the directory that the
 * resource's property `workspaceDirectory` names, which may be on any file system.
 */
export function workspaceHome({ resource, directory }: SandboxPlace): BytePath {
  const wanted = resource.properties?.["workspaceDirectory"];
  if (typeof wanted !== "string") return directory;
  return `${toBytePath(wanted)}/cofferdam-${nameOf(directory)}` as BytePath;
}

/** What stays of a sandbox as long as others have borrowed from it. */
export const LENT = "lent";

/** Removes the empty folder of a sandbox that is gone; one that holds what others have borrowed stays. */
export function removePlace(place: SandboxPlace): void {
  if (existsSync(Buffer.from(`${place.directory}/${LENT}`, "latin1"))) return;
  rmSync(displayPath(place.directory), { recursive: true, force: true });
}

function locate(resource: Resource): { root: BytePath; only: BytePath | null } {
  const { location, type } = resource;
  let real: string;
  try {
    real = realpathSync.native(location);
  } catch (cause) {
    const what = errnoOf(cause) === "EACCES" ? "may not be read" : "does not exist";
    throw creationError(resource, "locate", `${location} ${what}`, cause);
  }
  const found = lstatSync(real);
  if (type === "fs-file") {
    if (!found.isFile())
      throw creationError(resource, "locate", `${location} is not a regular file`);
    return { root: toBytePath(dirname(real)), only: toBytePath(basename(real)) };
  }
  if (!found.isDirectory())
    throw creationError(resource, "locate", `${location} is not a directory`);
  if (PROTECTED.has(real))
    throw creationError(resource, "locate", `${location} cannot be a resource`);
  if (type === "fs-mount" && mountAt(toBytePath(real)) === undefined) {
    throw creationError(resource, "locate", `${location} is not a mount point`);
  }
  return { root: toBytePath(real), only: null };
}

function creationError(
  resource: Resource,
  stage: string,
  message: string,
  cause?: unknown,
): SandboxCreationError {
  return new SandboxCreationError(message, {
    operation: "create",
    resourceId: resource.resourceId,
    data: { stage, residue: [] },
    hint: "Check the location and type of the resource.",
    ...(cause !== undefined && { cause }),
  });
}

function resolved(path: string): string {
  return existsSync(path) ? realpathSync.native(path) : path;
}

function insideOf(root: BytePath, paths: readonly BytePath[]): RelativePath[] {
  const inside = paths.filter((path) => path !== root && isWithin(path, root));
  const relative = inside.map((path) => path.slice(root.length + 1) as RelativePath);
  // An area inside the state directory needs no mask of its own.
  return [...new Set(relative)].filter(
    (path) => !relative.some((other) => other !== path && isWithin(path, other)),
  );
}
