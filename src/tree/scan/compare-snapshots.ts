import {
  type BytePath,
  type RelativePath,
  ROOT,
  ancestorsOf,
  isWithin,
  joinPath,
} from "../../model/byte-path.ts";
import {
  DirectoryScanner,
  StatBuffer,
  readDirectory,
  throwUnlessErrno,
} from "../../platform/native/index.ts";
import { findBeneath } from "../beneath.ts";
import type { ChangeSet } from "../tree-change.ts";
import type { TreeEntry } from "../tree-entry.ts";
import { compareTree } from "./compare-tree.ts";
import { Manifest } from "./manifest.ts";
import { withFolder, withRoot } from "./open-directory.ts";
import { recordTree } from "./record-tree.ts";
import { replaceRecords } from "./replace-records.ts";
import { TouchedPaths } from "./touched-paths.ts";

/** A snapshot that was edited, to be compared with one that was not. Both have the inodes of the same tree. */
export interface SnapshotsRequest {
  readonly workspace: BytePath;
  readonly base: BytePath;
  /** Every path at which they may differ; null when nobody can tell. */
  readonly touched: readonly RelativePath[] | null;
  /** Paths whose base is an entry of the real tree instead. */
  readonly accepted: ReadonlyMap<RelativePath, TreeEntry | null>;
  readonly root: BytePath;
  readonly exclude: readonly RelativePath[];
}

/** What differs between two snapshots. Costs what was touched. */
export function compareSnapshots(request: SnapshotsRequest): ChangeSet {
  const { workspace, base, accepted, root, exclude } = request;
  const within = request.touched === null ? undefined : touchedPaths(request);
  const bytes = recordTree({
    root: base,
    only: null,
    exclude,
    ...(within !== undefined && { within }),
  });
  return compareTree({
    workspace,
    root: base,
    manifest: withAccepted(bytes, accepted),
    only: null,
    exclude,
    isExact: true,
    elsewhere: { root, paths: new Set(accepted.keys()) },
    ...(within !== undefined && { within }),
  });
}

/** The manifest of a snapshot with the entries that were accepted since. */
export function withAccepted(
  bytes: Uint8Array,
  accepted: ReadonlyMap<RelativePath, TreeEntry | null>,
): Uint8Array {
  const manifest = Manifest.fromBytes(Buffer.from(bytes));
  if (manifest === null) throw new Error("the manifest of the snapshot is damaged");
  return accepted.size === 0
    ? bytes
    : replaceRecords(manifest, withFolders(accepted), () => null).toBytes();
}

/** Entries below one that is gone are gone with it. */
function withFolders(
  accepted: ReadonlyMap<RelativePath, TreeEntry | null>,
): ReadonlyMap<RelativePath, TreeEntry | null> {
  const isBelowNothing = (path: RelativePath): boolean =>
    ancestorsOf(path).some((folder) => accepted.get(folder) === null && accepted.has(folder));
  return new Map([...accepted].filter(([path]) => !isBelowNothing(path)));
}

function touchedPaths(request: SnapshotsRequest): TouchedPaths {
  const { workspace, base, touched, accepted, exclude } = request;
  const paths = new TouchedPaths();
  const links = new Links();
  const isOurs = (path: RelativePath): boolean => exclude.some((own) => isWithin(path, own));
  const pending = [...(touched ?? []), ...accepted.keys()];
  for (const path of pending) {
    if (isOurs(path)) continue;
    const [before, after] = [findBeneath(base, path), findBeneath(workspace, path)];
    if (before === null && after === null && !accepted.has(path)) continue;
    paths.add(path);
    if (after?.type === "file") links.see(after, path);
    if (isSameFolder(before, after)) {
      if (before?.mtimeNs !== after?.mtimeNs) pending.push(...otherNames(request, path));
      continue;
    }
    if (before?.type === "directory" || after?.type === "directory") paths.addWhole(path);
    if (after?.type === "directory") links.seeBelow(workspace, path);
  }
  for (const path of links.otherNames(workspace)) if (!isOurs(path)) paths.add(path);
  return paths;
}

/** The names that only one side has. A file system may leave them out where they are file systems of their own. */
function otherNames({ base, workspace }: SnapshotsRequest, folder: RelativePath): RelativePath[] {
  const [before, after] = [namesIn(base, folder), namesIn(workspace, folder)];
  const other = [...before, ...after].filter((name) => !before.has(name) || !after.has(name));
  return other.map((name) => joinPath(folder, name));
}

function namesIn(tree: BytePath, folder: RelativePath): ReadonlySet<string> {
  const entries = withRoot(tree, (fd) => withFolder(fd, folder, readDirectory));
  return new Set(entries.map(({ name }) => name));
}

function isSameFolder(before: TreeEntry | null, after: TreeEntry | null): boolean {
  return before?.type === "directory" && after?.type === "directory" && before.ino === after.ino;
}

/** Follows files with several names: whoever is touched under one of them is under all. */
class Links {
  /** By inode: how many names there are, and which are known. */
  readonly #names = new Map<
    bigint,
    { readonly count: number; readonly known: Set<RelativePath> }
  >();

  see({ ino, nlink }: { readonly ino: bigint; readonly nlink: number }, path: RelativePath): void {
    if (nlink < 2) return;
    const file = this.#names.get(ino) ?? { count: nlink, known: new Set() };
    file.known.add(path);
    this.#names.set(ino, file);
  }

  seeBelow(tree: BytePath, folder: RelativePath): void {
    walk(tree, folder, (path, stat) => {
      if (stat.type === "file") this.see(stat, path);
      return true;
    });
  }

  /** The names that nobody has seen. Walks the tree, but only when there are such. */
  otherNames(tree: BytePath): RelativePath[] {
    const missing = (): number =>
      [...this.#names.values()].reduce((sum, { count, known }) => sum + count - known.size, 0);
    let left = missing();
    const found: RelativePath[] = [];
    if (left === 0) return found;
    walk(tree, ROOT, (path, stat) => {
      const file = stat.type === "file" ? this.#names.get(stat.ino) : undefined;
      if (file === undefined || file.known.has(path)) return true;
      file.known.add(path);
      found.push(path);
      left -= 1;
      return left > 0;
    });
    return found;
  }
}

/** Visits everything below a folder until `visit` says that it is enough. */
function walk(
  tree: BytePath,
  folder: RelativePath,
  visit: (path: RelativePath, stat: StatBuffer) => boolean,
): void {
  const scanner = new DirectoryScanner();
  const stat = new StatBuffer();
  withRoot(tree, (rootFd) => {
    const pending = [folder];
    for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
      const above = at;
      try {
        withFolder(rootFd, above, (fd) => {
          scanner.open(fd);
          while (scanner.next()) {
            if (!scanner.stat(stat)) continue;
            const path = joinPath(above, scanner.name);
            if (stat.type === "directory") pending.push(path);
            if (visit(path, stat)) continue;
            pending.length = 0;
            return;
          }
        });
      } catch (error) {
        throwUnlessErrno(error, "ENOENT", "ENOTDIR");
      }
    }
  });
}
