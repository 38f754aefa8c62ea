import {
  type BytePath,
  type RelativePath,
  ROOT,
  displayPath,
  joinPath,
} from "../model/byte-path.ts";
import {
  DirectoryScanner,
  MODE,
  StatBuffer,
  close,
  statIfThere,
  throwUnlessErrno,
} from "../platform/native/index.ts";
import type { OrdinaryUser } from "./owners.ts";
import { openFolder, openRoot, withRoot } from "./scan/open-directory.ts";

/** An entry whose owner or group is not the user's own: no user namespace that he may make knows of it. */
export interface ForeignEntry {
  readonly path: RelativePath;
  readonly uid: number;
  readonly gid: number;
  /** Whether the user owns it, and may change it everywhere else. */
  readonly isOwn: boolean;
  readonly isFolder: boolean;
}

let sharedScanner: DirectoryScanner | undefined;

/** How many names directly in a resource are looked at before a sandbox is made: its cost must not follow its size. */
const FIRST_NAMES = 512;

/** Where a search ends. */
interface SearchLimits {
  /** So many entries are looked at. */
  readonly entries: number;
  /** Whether folders are entered. */
  readonly isDeep: boolean;
  /** So many are enough. */
  readonly found: number;
}

/**
 * Looks at a bounded number of names directly in a folder; gives the entry that matters most to the user: what is his own
 * before what belongs to others, and folders before files. Null: none was seen, or it is no folder.
 */
export function findForeign(
  root: BytePath,
  exclude: readonly RelativePath[],
  user: OrdinaryUser,
): ForeignEntry | null {
  const limits = { entries: FIRST_NAMES, isDeep: false, found: FIRST_NAMES };
  const found = searchForeign(root, exclude, user, limits);
  return found.toSorted((a, b) => weightOf(b) - weightOf(a))[0] ?? null;
}

/** Whether a name directly in a folder is such an entry. */
export function isForeign(root: BytePath, name: BytePath, { uid, gid }: OrdinaryUser): boolean {
  return withRoot(root, (rootFd) => {
    const stat = statIfThere(rootFd, name);
    return stat !== null && (stat.uid !== uid || stat.gid !== gid);
  });
}

/** Looks through a tree, folder by folder and not without end, for a few such entries. */
export function listForeign(
  root: BytePath,
  exclude: readonly RelativePath[],
  user: OrdinaryUser,
): readonly ForeignEntry[] {
  return searchForeign(root, exclude, user, { entries: 50_000, isDeep: true, found: 3 });
}

/** Says what is foreign about an entry: `src has the group 0`. */
export function describeForeign({ path, uid, gid, isOwn }: ForeignEntry): string {
  const name = displayPath(path);
  return isOwn ? `${name} has the group ${gid}` : `${name} belongs to the user ${uid}`;
}

function weightOf({ isOwn, isFolder }: ForeignEntry): number {
  return (isOwn ? 2 : 0) + (isFolder ? 1 : 0);
}

function searchForeign(
  root: BytePath,
  exclude: readonly RelativePath[],
  user: OrdinaryUser,
  limits: SearchLimits,
): ForeignEntry[] {
  const search = new Search(exclude, user, limits);
  lookInto(
    () => openRoot(root),
    (rootFd) => {
      for (const folder of search.folders()) {
        lookInto(
          () => openFolder(rootFd, folder),
          (fd) => search.look(fd, folder),
        );
      }
    },
  );
  return search.found;
}

class Search {
  readonly found: ForeignEntry[] = [];
  readonly #exclude: readonly RelativePath[];
  readonly #user: OrdinaryUser;
  readonly #limits: SearchLimits;
  readonly #pending: RelativePath[] = [ROOT];
  readonly #stat = new StatBuffer();
  #looked = 0;

  constructor(exclude: readonly RelativePath[], user: OrdinaryUser, limits: SearchLimits) {
    this.#exclude = exclude;
    this.#user = user;
    this.#limits = limits;
  }

  /** The folders to look into, outer ones first. */
  *folders(): Generator<RelativePath> {
    for (const folder of this.#pending) {
      if (this.#isOver()) return;
      yield folder;
    }
  }

  look(fd: number, folder: RelativePath): void {
    const scanner = (sharedScanner ??= new DirectoryScanner());
    scanner.open(fd);
    while (!this.#isOver() && scanner.next()) {
      this.#looked += 1;
      const path = joinPath(folder, scanner.name);
      if (!this.#exclude.includes(path) && scanner.stat(this.#stat)) this.#judge(path);
    }
  }

  #judge(path: RelativePath): void {
    const { mode, uid, gid } = this.#stat;
    const isFolder = (mode & MODE.typeMask) === MODE.directory;
    const isOwn = uid === this.#user.uid;
    if (!isOwn || gid !== this.#user.gid) this.found.push({ path, uid, gid, isOwn, isFolder });
    if (isFolder && this.#limits.isDeep) this.#pending.push(path);
  }

  #isOver(): boolean {
    return this.#looked >= this.#limits.entries || this.found.length >= this.#limits.found;
  }
}

/** What cannot be entered, or has just gone, is passed by: this is a search for a hint. */
function lookInto(open: () => number, look: (fd: number) => void): void {
  let fd: number;
  try {
    fd = open();
  } catch (error) {
    throwUnlessErrno(error, "EACCES", "ENOENT", "ENOTDIR", "ELOOP", "EXDEV");
    return;
  }
  try {
    look(fd);
  } finally {
    close(fd);
  }
}
