import { lstatSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StorageArea } from "../contract/host.ts";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import { mountIdOf } from "./resource-root.ts";

/** A place that may become an area. */
export interface AreaCandidate {
  readonly path: string;
  readonly foundBy: StorageArea["foundBy"];
}

/** What is known before the places are tried. */
export interface AreaQuestion {
  readonly stateDirectory: string;
  /** The folder into which things will be renamed. */
  readonly folder: string;
  /** The first folder that is not part of the resource. */
  readonly outside: string;
  readonly allowParent: boolean;
}

/** The places to try, best first. They are looked at one by one because most questions end with the first. */
export function* areaCandidates(question: AreaQuestion): Generator<AreaCandidate> {
  const name = `.cofferdam-${process.geteuid?.() ?? 0}`;
  yield { path: join(question.stateDirectory, "area"), foundBy: "state" };
  const root = mountRoot(question.folder);
  if (isFitFolder(root)) yield { path: join(root, name), foundBy: "mountRoot" };
  for (const folder of ancestors(question.outside)) {
    if (isFitFolder(folder)) yield { path: join(folder, name), foundBy: "ancestor" };
  }
  if (isSubvolume(question.folder) && isFitFolder(question.folder))
    yield { path: join(question.folder, name), foundBy: "mountRoot" };
  const repository = enclosingRepository(question.folder);
  if (repository !== null) {
    yield { path: join(repository, "cofferdam"), foundBy: "gitDirectory" };
  }
  if (question.allowParent) yield { path: join(question.outside, name), foundBy: "parent" };
}

/** Neither visible to git, nor a folder in which everybody may swap our area for another. */
function isFitFolder(folder: string): boolean {
  const { mode } = statSync(folder);
  if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0) return false;
  for (const above of ancestors(folder)) if (exists(join(above, ".git"))) return false;
  return true;
}

/** The folder and everything above it, nearest first. */
function ancestors(folder: string): string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...ancestors(above)];
}

function mountRoot(folder: string): string {
  const mount = mountIdOf(folder);
  let root = folder;
  while (root !== dirname(root) && mountIdOf(dirname(root)) === mount) root = dirname(root);
  return root;
}

/** Whether nothing can be renamed into a folder from outside, although it is no mount: a subvolume. */
function isSubvolume(folder: string): boolean {
  return statSync(folder).dev !== statSync(dirname(folder)).dev;
}

function enclosingRepository(folder: string): string | null {
  for (const above of ancestors(folder)) {
    const path = join(above, ".git");
    if (exists(path)) return lstatSync(path).isDirectory() ? path : null;
  }
  return null;
}

function exists(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "EACCES");
    return false;
  }
}
