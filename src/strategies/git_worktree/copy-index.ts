import {
  closeSync,
  constants,
  copyFileSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { dirname } from "node:path";
import { futimens } from "../../platform/native/index.ts";
import type { Site } from "./site.ts";

/** How the names of the older parts of a split index begin. */
const SHARED = "sharedindex.";

/**
 * Copies an index with its time: git takes files that were written after the index for unknown, and with a later time it
 * would miss an edit that was made in the same second.
 */
export function copyIndex(from: string, to: string): void {
  // The lock is that of a git that we started and that was killed.
  for (const name of [to, `${to}.lock`]) rmSync(name, { force: true });
  const { mtimeNs } = statSync(from, { bigint: true });
  copyFileSync(from, to);
  const fd = openSync(to, constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    futimens(fd, null, mtimeNs);
  } finally {
    closeSync(fd);
  }
}

/** As `copyIndex`, for calls with the private git directory. Says whether the index is a split one. */
export function copyWholeIndex(site: Site, from: string, to: string): boolean {
  copyIndex(from, to);
  return linkSharedIndex(site, dirname(from));
}

/**
 * Lets calls with the private git directory read a split index: it is only the newer part of one, and git looks for the
 * other part in the git directory that it is given. Says whether there is such a part in the folder of the index.
 */
export function linkSharedIndex({ privateGit }: Site, folder: string): boolean {
  const shared = readdirSync(folder).filter((name) => name.startsWith(SHARED));
  for (const name of shared) {
    rmSync(`${privateGit}/${name}`, { force: true });
    symlinkSync(`${folder}/${name}`, `${privateGit}/${name}`);
  }
  return shared.length > 0;
}
