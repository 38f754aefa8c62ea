import { PathEscapeError } from "../../errors/index.ts";
import {
  type BytePath,
  type RelativePath,
  displayPath,
  isWithin,
  nameOf,
} from "../../model/byte-path.ts";
import {
  AT,
  OPEN,
  close,
  mkdirAt,
  openAt,
  removeXattr,
  statAt,
  statFd,
} from "../../platform/native/index.ts";
import { FolderCache } from "./folder-cache.ts";
import type { PublishPlace } from "./step.ts";

/** Name of the folder with the staged entries inside a stage. */
export const ENTRIES = "entries";

const FOLDER = OPEN.readOnly | OPEN.directory | OPEN.noFollow;
const ODD_PART = /(?:^|\/)\.{0,2}(?:\/|$)/;

/** An open stage: its folder, and the folder of staged entries in it. */
export class OpenStage implements Disposable {
  readonly path: BytePath;
  readonly fd: number;
  readonly entriesFd: number;
  readonly entries: FolderCache;

  constructor(path: BytePath, fd: number, entriesFd: number) {
    this.path = path;
    this.fd = fd;
    this.entriesFd = entriesFd;
    this.entries = new FolderCache(entriesFd);
  }

  /** Absolute path of a staged name. */
  placeOf(slot: RelativePath): BytePath {
    return `${this.path}/${ENTRIES}/${slot}` as BytePath;
  }

  [Symbol.dispose](): void {
    this.entries[Symbol.dispose]();
    close(this.entriesFd);
    close(this.fd);
  }
}

/** The open directory in which changes are published. */
export class OpenRoot implements Disposable {
  readonly fd: number;
  readonly folders: FolderCache;

  constructor(fd: number) {
    this.fd = fd;
    this.folders = new FolderCache(fd);
  }

  [Symbol.dispose](): void {
    this.folders[Symbol.dispose]();
    close(this.fd);
  }
}

/**
 * Opens the root of a resource for publishing. The caller disposes of it.
 * @throws PathEscapeError (`PATH_ESCAPE`) for a path that is not plain and absolute, and for the root directory of the
 *   machine unless only one name in it is meant.
 */
export function openRoot(root: BytePath, only: BytePath | null): OpenRoot {
  requirePlain(root, root);
  const fd = openAt(AT.workingDirectory, root, FOLDER);
  const [own, machine] = [statFd(fd), statAt(AT.workingDirectory, "/")];
  if (only === null && own.ino === machine.ino && own.dev === machine.dev) {
    close(fd);
    throw escape(root, root);
  }
  return new OpenRoot(fd);
}

/**
 * Makes the folder of a transaction, which must not exist, private and without anything inherited; tells at once when
 * it exists. The caller disposes of it.
 */
export function makeStage({ root, stage }: PublishPlace, onMade: () => void): OpenStage {
  requirePlain(stage, root);
  if (isWithin(root, stage)) throw escape(stage, root);
  mkdirAt(AT.workingDirectory, stage, 0o700);
  onMade();
  const fd = openAt(AT.workingDirectory, stage, FOLDER);
  try {
    // New files in here must get nothing but what they are given.
    removeXattr(fd, "system.posix_acl_default");
    mkdirAt(fd, ENTRIES, 0o700);
    return new OpenStage(stage, fd, openAt(fd, ENTRIES, FOLDER));
  } catch (error) {
    close(fd);
    throw error;
  }
}

/** Opens the folder of a transaction. The caller disposes of it. */
export function openStage({ root, stage }: PublishPlace): OpenStage {
  requirePlain(stage, root);
  const fd = openAt(AT.workingDirectory, stage, FOLDER);
  try {
    return new OpenStage(stage, fd, openAt(fd, ENTRIES, FOLDER));
  } catch (error) {
    close(fd);
    throw error;
  }
}

/** Opens the folder that holds an absolute path, for work on its last part. The caller closes the descriptor. */
export function openParent(path: BytePath): { readonly fd: number; readonly name: BytePath } {
  requirePlain(path, path);
  const name = nameOf(path);
  const parent = path.slice(0, -name.length - 1);
  return {
    fd: openAt(AT.workingDirectory, parent === "" ? "/" : parent, OPEN.readOnly | OPEN.directory),
    name,
  };
}

function requirePlain(path: BytePath, root: BytePath): void {
  const isPlain = path === "/" || (path.startsWith("/") && !ODD_PART.test(path.slice(1)));
  if (!isPlain || path.includes("\0")) throw escape(path, root);
}

function escape(requested: BytePath, root: BytePath): PathEscapeError {
  return new PathEscapeError("this is no place where changes may be published", {
    data: { requested: displayPath(requested), root: displayPath(root) },
  });
}
