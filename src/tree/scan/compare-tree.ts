import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { ROOT, joinPath } from "../../model/byte-path.ts";
import type { SkippedEntry } from "../../model/change.ts";
import { compareText } from "../../model/compare-text.ts";
import { DirectoryScanner, MODE, StatBuffer } from "../../platform/native/index.ts";
import { typed } from "../beneath.ts";
import { folderEntry } from "../folder-entry.ts";
import { SET_GROUP, withFolderGroup } from "../owners.ts";
import { skippedEntry } from "../public-path.ts";
import { readEntry } from "../read-entry.ts";
import type { ChangeSet, TreeChange } from "../tree-change.ts";
import { keepsSpecialBits } from "../special-bits.ts";
import type { TreeEntry } from "../tree-entry.ts";
import { BaseReader } from "./base-reader.ts";
import { judgeEntry } from "./judge-entry.ts";
import { LinkGroups } from "./link-groups.ts";
import { FIELD, FLAG, Manifest } from "./manifest.ts";
import { withFolder, withRoot } from "./open-directory.ts";
import type { TouchedPaths } from "./touched-paths.ts";
import { type FolderReading, visitNames } from "./visit-names.ts";

/** A workspace to be compared with what it was made from. */
export interface CompareRequest {
  readonly workspace: BytePath;
  /** The real directory, for reading base entries that nobody changed meanwhile. */
  readonly root: BytePath;
  /** `Manifest.toBytes`. */
  readonly manifest: Uint8Array;
  readonly only: BytePath | null;
  readonly exclude: readonly RelativePath[];
  /** Where alone something can differ; everywhere unless given. */
  readonly within?: TouchedPaths;
  /** Whether entries of the workspace carry the special bits and owners of the base; copies do not. */
  readonly isExact?: boolean;
  /** Paths whose base lies in another tree than `root`. */
  readonly elsewhere?: { readonly root: BytePath; readonly paths: ReadonlySet<RelativePath> };
}

interface Folder {
  /** Its record, or -1 when the base has no such folder. */
  readonly record: number;
  readonly path: RelativePath;
  /** The names in it that alone can differ; null for all. */
  readonly names: ReadonlySet<string> | null;
  /** The group that the real folder gives to whatever is made in it; null when it gives none. */
  readonly givesGroup: number | null;
}

/**
 * What differs between a workspace and its base. Entries that kept inode, mode, mtime and ctime are not read; of the
 * others only what is needed to tell whether they changed.
 */
export function compareTree(request: CompareRequest): ChangeSet {
  const manifest = Manifest.fromBytes(Buffer.from(request.manifest));
  if (manifest === null) throw new Error("the manifest of the workspace is damaged");
  const { workspace, root, elsewhere } = request;
  return withRoot(workspace, (workspaceFd) =>
    withRoot(root, (rootFd) =>
      withRoot(elsewhere?.root ?? root, (otherFd) => {
        const rootOf = (path: RelativePath): number =>
          elsewhere?.paths.has(path) === true ? otherFd : rootFd;
        const base = new BaseReader(manifest, rootOf);
        return new Comparison(request, manifest, workspaceFd, base).run();
      }),
    ),
  );
}

class Comparison {
  readonly #request: CompareRequest;
  readonly #manifest: Manifest;
  readonly #workspaceFd: number;
  readonly #base: BaseReader;
  readonly #stat = new StatBuffer();
  readonly #reading: FolderReading = { scanner: new DirectoryScanner(), stat: this.#stat };
  readonly #links: LinkGroups;
  readonly #changes: TreeChange[] = [];
  readonly #skipped: SkippedEntry[] = [];

  constructor(request: CompareRequest, manifest: Manifest, workspaceFd: number, base: BaseReader) {
    this.#request = request;
    this.#manifest = manifest;
    this.#workspaceFd = workspaceFd;
    this.#base = base;
    this.#links = new LinkGroups(manifest);
  }

  run(): ChangeSet {
    const pending: Folder[] = [this.#known(0, ROOT, this.#request.within?.namesIn(ROOT) ?? null)];
    for (let at = 0; at < pending.length; at++) pending.push(...this.#folder(pending[at]!));
    this.#base.close();
    const changes = this.#links.apply(this.#changes, (path) => this.#source(path));
    changes.sort((a, b) => compareText(a.path, b.path));
    this.#skipped.sort((a, b) => compareText(a.path, b.path));
    return { changes, skipped: this.#skipped };
  }

  #folder(folder: Folder): Folder[] {
    const folders: Folder[] = [];
    const known = new Map<string, number>();
    if (folder.record >= 0) {
      for (const child of this.#manifest.children(folder.record)) {
        known.set(this.#manifest.name(child), child);
      }
    }
    const before = this.#changes.length;
    let hasNewNames = false;
    withFolder(this.#workspaceFd, folder.path, (fd) => {
      visitNames(this.#reading, fd, folder.names, (name) => {
        const path = joinPath(folder.path, name);
        if (this.#isOutside(path)) return;
        const record = known.get(name) ?? -1;
        known.delete(name);
        if (record < 0) hasNewNames = true;
        const child = this.#entry(path, name, record, fd, folder);
        if (child !== null) folders.push(child);
      });
      for (const record of known.values()) {
        if (this.#request.isExact === true || !this.#manifest.has(record, FLAG.skipped)) {
          this.#removed(record, joinPath(folder.path, this.#manifest.name(record)));
        }
      }
      const namesChanged = hasNewNames || this.#changes.length > before;
      this.#folderItself(folder, fd, namesChanged);
    });
    return folders;
  }

  #isOutside(path: RelativePath): boolean {
    const { only, exclude } = this.#request;
    return (only !== null && path !== only) || (exclude.length > 0 && exclude.includes(path));
  }

  /** Judges one entry; gives it back when it is a folder to be entered. */
  #entry(
    path: RelativePath,
    name: string,
    record: number,
    fd: number,
    { givesGroup, names }: Folder,
  ): Folder | null {
    const type = this.#stat.mode & MODE.typeMask;
    const isFolder = type === MODE.directory;
    if (type !== MODE.file && !isFolder && type !== MODE.symlink) {
      return this.#special(path, type, record);
    }
    const isFile = type === MODE.file;
    if (isFile && this.#stat.nlink > 1) this.#links.see(path, this.#stat.inoNumber, record);
    if (record >= 0 && this.#manifest.isSameCopy(record, this.#stat)) {
      return isFolder ? this.#known(record, path, this.#namesBelow(path, names)) : null;
    }
    const wasFolder =
      record >= 0 && (this.#manifest.get(record, FIELD.mode) & MODE.typeMask) === MODE.directory;
    if (isFolder && wasFolder && !this.#manifest.has(record, FLAG.absent)) {
      return this.#known(record, path, this.#namesBelow(path, names));
    }
    if (record < 0) this.#links.arrive(path, this.#stat.inoNumber, this.#stat.btimeNs);
    const isInherited =
      givesGroup !== null && this.#request.isExact !== true && this.#wasMadeHere();
    const found = readEntry(fd, name);
    const after = isInherited ? withFolderGroup(found, givesGroup) : found;
    if (record >= 0 && wasFolder) this.#removedBelow(record, path);
    const before = record < 0 ? null : this.#base.entry(record, path);
    const change = judgeEntry({
      path,
      before: before?.entry ?? null,
      isBaseIntact: before?.isIntact ?? false,
      after: record < 0 ? after : this.#asPublished(record, after),
      source: this.#source(path),
      compareContent: () =>
        typed(this.#request.workspace, path, () => this.#base.hasEqualContent(path, fd, name)),
      inodeKept: record >= 0 && this.#manifest.wide(record, FIELD.ino) === Number(after.ino),
    });
    if (change !== null) this.#changes.push(change);
    if (!isFolder) return null;
    return { record: -1, path, names: null, givesGroup: isInherited ? givesGroup : null };
  }

  #known(record: number, path: RelativePath, names: Folder["names"]): Folder {
    const isSetGroup = (this.#manifest.get(record, FIELD.mode) & SET_GROUP) !== 0;
    const givesGroup = isSetGroup ? this.#manifest.get(record, FIELD.gid) : null;
    return { record, path, names, givesGroup };
  }

  /** Below a folder in which everything counts, everything does. */
  #namesBelow(path: RelativePath, names: Folder["names"]): Folder["names"] {
    return names === null ? null : (this.#request.within?.namesIn(path) ?? null);
  }

  /** Whether the entry that was last looked at was made in the workspace, by somebody with our own group. */
  #wasMadeHere(): boolean {
    const { btimeNs, gid } = this.#stat;
    const madeNs = this.#manifest.timeNs(0, FIELD.ctime);
    return btimeNs !== null && btimeNs > madeNs && gid === process.getegid?.();
  }

  #special(path: RelativePath, type: number, record: number): null {
    const isKept = record >= 0 && this.#manifest.has(record, FLAG.skipped);
    if (isKept && this.#request.isExact === true) return null;
    const reason = type === MODE.fifo ? "fifo" : type === MODE.socket ? "socket" : "device";
    this.#skipped.push(skippedEntry(path, reason));
    // A special file took the place of something: that was removed, and the new thing cannot be published.
    if (record >= 0 && !isKept) this.#removed(record, path);
    return null;
  }

  /** The folder's own attributes; changed times alone are implied when names in it changed. */
  #folderItself(folder: Folder, fd: number, namesChanged: boolean): void {
    if (folder.record < 0 || (folder.path === "" && this.#request.only !== null)) return;
    this.#stat.readFd(fd);
    if (this.#manifest.isSameCopy(folder.record, this.#stat)) return;
    const { entry } = this.#base.entry(folder.record, folder.path);
    const own = folderEntry(fd);
    const after = this.#asPublished(folder.record, own);
    const change = judgeEntry({
      path: folder.path,
      before: entry,
      isBaseIntact: true,
      after,
      source: this.#source(folder.path),
      compareContent: () => true,
      inodeKept: true,
    });
    if (change === null) return;
    const isTimesOnly = change.timesOnly === true;
    this.#changes.push(isTimesOnly && namesChanged ? { ...change, implied: true } : change);
  }

  #removed(record: number, path: RelativePath): void {
    const { entry } = this.#base.entry(record, path);
    this.#changes.push({
      path,
      before: entry,
      after: null,
      source: null,
      take: "clone",
      contentDiffers: null,
    });
    this.#links.lose(record, path);
    this.#removedBelow(record, path);
  }

  /** Everything below goes with its folder, also what was never copied. */
  #removedBelow(record: number, path: RelativePath): void {
    for (const child of this.#manifest.children(record)) {
      this.#removed(child, joinPath(path, this.#manifest.name(child)));
    }
  }

  /**
   * What would be published: what the workspace entry kept since the copy was made counts as the base's own, because a
   * copy carries no special bits and an ordinary user's copies all belong to that user.
   */
  #asPublished(record: number, entry: TreeEntry): TreeEntry {
    if (this.#request.isExact === true) return entry;
    const manifest = this.#manifest;
    const copyMode = manifest.get(record, FIELD.copyMode);
    const baseMode = manifest.get(record, FIELD.mode);
    if ((copyMode & MODE.typeMask) !== (baseMode & MODE.typeMask)) return entry;
    const copied = { ino: BigInt(manifest.wide(record, FIELD.ino)), mode: copyMode };
    const isOld = entry.type === "directory" || keepsSpecialBits(entry, copied);
    return {
      ...entry,
      mode: entry.type !== "symlink" && isOld ? entry.mode | (baseMode & 0o7000) : entry.mode,
      uid:
        entry.uid === manifest.get(record, FIELD.copyUid)
          ? manifest.get(record, FIELD.uid)
          : entry.uid,
      gid:
        entry.gid === manifest.get(record, FIELD.copyGid)
          ? manifest.get(record, FIELD.gid)
          : entry.gid,
    };
  }

  #source(path: RelativePath): BytePath {
    return (
      path === "" ? this.#request.workspace : `${this.#request.workspace}/${path}`
    ) as BytePath;
  }
}
