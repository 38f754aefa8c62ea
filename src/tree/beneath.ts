import { randomBytes } from "node:crypto";
import { readFileSync, writeSync } from "node:fs";
import type { ListedEntry } from "../contract/strategy.ts";
import { PathEscapeError, SandboxPathError, errnoHint } from "../errors/index.ts";
import {
  type BytePath,
  type RelativePath,
  ancestorsOf,
  displayPath,
  isTextPath,
  isWithin,
  nameOf,
  parentOf,
  pathBytes,
} from "../model/byte-path.ts";
import { compareText } from "../model/compare-text.ts";
import {
  OPEN,
  RENAME,
  close,
  isErrno,
  mkdirAt,
  openAt,
  openBeneath,
  readDirectory,
  renameAt,
  statFd,
  throwUnlessErrno,
  unlinkAt,
} from "../platform/native/index.ts";
import { attributesOf, setAttributes } from "./entry-attributes.ts";
import { folderEntry } from "./folder-entry.ts";
import { entryType, findEntry } from "./read-entry.ts";
import { removeTree } from "./remove-tree.ts";
import { openFolder, withFolder, withRoot } from "./scan/open-directory.ts";
import type { TreeEntry } from "./tree-entry.ts";

/*
 * Calls by path inside a plain directory. Every path is resolved from an open root without following a link at any
 * level, so neither a planted link nor one that is swapped in during the call leads outside.
 */

/** Content of a regular file. */
export function readBeneath(root: BytePath, path: RelativePath): Buffer {
  return typed(root, path, () =>
    withRoot(root, (rootFd) => {
      // Non-blocking: a FIFO must not hold the call up before its type is known.
      const fd = openBeneath(rootFd, path, OPEN.readOnly | OPEN.nonBlocking);
      try {
        const type = entryType(statFd(fd).type);
        if (type !== "file") throw pathError(path, type === "directory" ? "directory" : "special");
        return readFileSync(fd);
      } finally {
        close(fd);
      }
    }),
  );
}

/** The entry itself; null when there is none. */
export function statBeneath(root: BytePath, path: RelativePath): TreeEntry | null {
  return typed(root, path, () => lookUp(root, path, ["ENOENT", "ENOTDIR"]));
}

/** The entry itself; null when there is none, also where a link stands in its way. */
export function findBeneath(root: BytePath, path: RelativePath): TreeEntry | null {
  return lookUp(root, path, ["ENOENT", "ENOTDIR", "ELOOP"]);
}

function lookUp(root: BytePath, path: RelativePath, missing: readonly string[]): TreeEntry | null {
  return withRoot(root, (rootFd) => {
    if (path === "") return folderEntry(rootFd);
    try {
      return withFolder(rootFd, parentOf(path), (fd) => findEntry(fd, nameOf(path)));
    } catch (error) {
      throwUnlessErrno(error, ...missing);
      return null;
    }
  });
}

/**
 * Replaces or creates a file: readers see the old content or the new. Missing folders are made; mode, owner and
 * attributes of an existing file stay. `spare` is a private folder on the same file system.
 */
export function writeBeneath(
  root: BytePath,
  path: RelativePath,
  content: Uint8Array,
  spare: BytePath,
): void {
  if (path === "") throw pathError(path, "directory");
  typed(root, path, () =>
    withRoot(root, (rootFd) => {
      makeFolders(rootFd, path);
      withFolder(rootFd, parentOf(path), (folderFd) => {
        const name = nameOf(path);
        const existing = findEntry(folderFd, name);
        refuseOverwrite(path, existing);
        withRoot(spare, (spareFd) => {
          const temporary = `write-${randomBytes(12).toString("hex")}`;
          const fd = openAt(
            spareFd,
            temporary,
            OPEN.writeOnly | OPEN.create | OPEN.exclusive,
            0o666,
          );
          try {
            writeAll(fd, content);
            if (existing !== null) setAttributes(fd, { ...attributesOf(existing), mtimeNs: null });
            renameAt(spareFd, temporary, folderFd, name);
          } catch (error) {
            unlinkAt(spareFd, temporary);
            throw error;
          } finally {
            close(fd);
          }
        });
      });
    }),
  );
}

/** Entries of a directory, sorted by name bytes. */
export function listBeneath(root: BytePath, path: RelativePath): ListedEntry[] {
  return typed(root, path, () =>
    withRoot(root, (rootFd) =>
      withFolder(rootFd, path, (fd) =>
        readDirectory(fd)
          .sort((a, b) => compareText(a.name, b.name))
          .map(({ name, type }) => listed(name as BytePath, entryType(type))),
      ),
    ),
  );
}

/** One entry of a listing in its public form. */
export function listed(name: BytePath, type: ListedEntry["type"]): ListedEntry {
  const text = displayPath(name);
  return isTextPath(name)
    ? { name: text, type }
    : { name: text, nameBytes: pathBytes(name).toString("hex"), type };
}

/** Removes an entry, a directory with everything below. */
export function removeBeneath(root: BytePath, path: RelativePath): void {
  if (path === "") throw pathError(path, "outside");
  typed(root, path, () =>
    withRoot(root, (rootFd) =>
      withFolder(rootFd, parentOf(path), (fd) => {
        if (findEntry(fd, nameOf(path)) === null) throw pathError(path, "missing");
        const remaining = removeTree(fd, nameOf(path));
        if (remaining.length > 0) throw pathError(path, "unreadable");
      }),
    ),
  );
}

/** Moves an entry to a name that is free. */
export function renameBeneath(root: BytePath, from: RelativePath, to: RelativePath): void {
  if (from === "" || to === "") throw pathError(from, "outside");
  // Before any folder is made for it.
  if (to !== from && isWithin(to, from)) throw pathError(to, "notDirectory");
  typed(root, from, () =>
    withRoot(root, (rootFd) => {
      makeFolders(rootFd, to);
      withFolder(rootFd, parentOf(from), (fromFd) =>
        withFolder(rootFd, parentOf(to), (toFd) => {
          try {
            renameAt(fromFd, nameOf(from), toFd, nameOf(to), RENAME.noReplace);
          } catch (error) {
            if (isErrno(error, "EEXIST")) throw pathError(to, "exists");
            throw error;
          }
        }),
      );
    }),
  );
}

/**
 * Proves that a path stays inside, whether its last part exists or not.
 * @throws PathEscapeError (`PATH_ESCAPE`) when a link stands on the way.
 */
export function assertBeneath(root: BytePath, path: RelativePath): void {
  typed(root, path, () =>
    withRoot(root, (rootFd) => {
      try {
        close(openBeneath(rootFd, path, OPEN.pathOnly | OPEN.noFollow));
      } catch (error) {
        throwUnlessErrno(error, "ENOENT");
      }
    }),
  );
}

/** Makes a folder, with those above it that are missing; one that is there stays as it is. */
export function makeFolderBeneath(root: BytePath, path: RelativePath): void {
  typed(root, path, () => withRoot(root, (fd) => makeFolders(fd, `${path}/.` as RelativePath)));
}

/** Makes the folders above a path. */
function makeFolders(rootFd: number, path: RelativePath): void {
  for (const folder of ancestorsOf(path).slice(1)) {
    try {
      close(openFolder(rootFd, folder));
    } catch (error) {
      throwUnlessErrno(error, "ENOENT");
      withFolder(rootFd, parentOf(folder), (fd) => mkdirAt(fd, nameOf(folder), 0o777));
    }
  }
}

/** What stands at the place of a file that is to be written must be a file. */
export function refuseOverwrite(path: RelativePath, existing: TreeEntry | null): void {
  if (existing === null || existing.type === "file") return;
  throw pathError(path, existing.type);
}

function writeAll(fd: number, content: Uint8Array): void {
  for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
}

/** A path that does not fit the call. */
export function pathError(
  path: RelativePath,
  reason: SandboxPathError["data"]["reason"],
  cause?: unknown,
): SandboxPathError {
  const text = displayPath(path);
  const texts = {
    missing: "does not exist",
    directory: "is a directory",
    notDirectory: "is not a directory",
    special: "is a special file and is never opened",
    symlink: "is a symbolic link, and links are never followed",
    unreadable: "cannot be used",
    unwritable: "cannot be written",
    exists: "exists already",
    notEmpty: "is not empty",
    outside: "is not inside the resource",
    unchanged: "has no edit, and nothing below it has one",
    tooLong: "is longer than the system allows",
  };
  return new SandboxPathError(`${text === "" ? "The root" : text} ${texts[reason]}`, {
    data: { path: text, reason },
    hint: errnoHint(cause),
    ...(cause !== undefined && { cause }),
  });
}

/** Gives system errors of a path call their place in the family. */
export function typed<T>(root: BytePath, path: RelativePath, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (isErrno(error, "ELOOP", "EXDEV")) {
      throw new PathEscapeError(`${displayPath(path)} leads over a symbolic link`, {
        cause: error,
        hint: "Name the place itself; links inside a sandbox are kept as text and never followed.",
        data: { requested: displayPath(path), root: displayPath(root) },
      });
    }
    if (isErrno(error, "ENOENT")) throw pathError(path, "missing", error);
    if (isErrno(error, "ENOTDIR")) throw pathError(path, "notDirectory", error);
    if (isErrno(error, "EISDIR")) throw pathError(path, "directory", error);
    if (isErrno(error, "ENXIO", "ENODEV")) throw pathError(path, "special", error);
    if (isErrno(error, "ENAMETOOLONG")) throw pathError(path, "tooLong", error);
    if (isErrno(error, "EACCES", "EPERM", "EIO", "EROFS")) {
      throw pathError(path, "unreadable", error);
    }
    throw error;
  }
}
