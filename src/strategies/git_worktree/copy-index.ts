import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
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
  const source = openSync(from, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(source, { bigint: true });
    // Nobody waits for what a program has put there instead.
    if (!found.isFile()) throw new Error(`${from} is no file`);
    const fd = openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      writeFileSync(fd, readFileSync(source));
      fchmodSync(fd, Number(found.mode) & 0o777);
      futimens(fd, null, found.mtimeNs);
    } finally {
      closeSync(fd);
    }
  } finally {
    closeSync(source);
  }
}

/** An index in which git may write: it would write through a link that a program has made in its place. */
export function ownIndex({ admin }: Site): string {
  const index = `${admin}/index`;
  if (lstatSync(index).isSymbolicLink()) {
    copyIndex(index, `${index}.own`);
    renameSync(`${index}.own`, index);
  }
  return index;
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
