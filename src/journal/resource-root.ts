import { realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import { AT, OPEN } from "../platform/native/constants.ts";
import { close, openAt } from "../platform/native/paths.ts";
import { statFd } from "../platform/native/stat.ts";
import { toBytePath } from "../model/byte-path.ts";

/** The real folder that a resource lives in: the resource itself, or the folder that holds a single file. */
export interface ResourceRoot {
  readonly folder: string;
  readonly device: bigint;
  readonly inode: bigint;
}

/** Where a path given by a caller really leads, and what is there. */
export interface LocatedPath {
  readonly path: string;
  readonly type: "fs-directory" | "fs-file" | "fs-mount";
}

/** The folder of a resource; null when its location is no path of this machine, or nothing is there. */
export function resourceRoot(location: string): ResourceRoot | null {
  if (!isAbsolute(location)) return null;
  const folder = folderOf(location);
  if (folder === null) return null;
  const found = statSync(folder, { bigint: true });
  return { folder, device: found.dev, inode: found.ino };
}

/**
 * Follows links, because the caller named what they lead to, and finds out the resource type.
 * @throws Node's file error (ENOENT, EACCES, …) when nothing can be found there.
 */
export function locatePath(path: string): LocatedPath {
  const real = realpathSync(resolve(path));
  const found = statSync(real);
  if (!found.isDirectory()) return { path: real, type: "fs-file" };
  return { path: real, type: isMountPoint(real) ? "fs-mount" : "fs-directory" };
}

function folderOf(location: string): string | null {
  try {
    const found = statSync(location);
    return found.isDirectory() ? location : dirname(realpathSync(location));
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR");
    return location === dirname(location) ? null : folderOf(dirname(location));
  }
}

function isMountPoint(path: string): boolean {
  return mountIdOf(path) !== mountIdOf(dirname(path));
}

/** Number of the mount that a folder belongs to. */
export function mountIdOf(folder: string): number {
  const fd = openAt(AT.workingDirectory, toBytePath(folder), OPEN.pathOnly | OPEN.directory);
  try {
    return statFd(fd).mountId;
  } finally {
    close(fd);
  }
}
