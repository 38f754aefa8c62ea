import type { RelativePath } from "../../model/byte-path.ts";
import { NativeError, statFd } from "../../platform/native/index.ts";
import { readFolderAttributes } from "../folder-attributes.ts";
import type { TreeChange } from "../tree-change.ts";
import { type TreeEntry, sameXattrs } from "../tree-entry.ts";
import type { OpenRoot } from "./open-place.ts";
import type { FolderAttributes, TouchedFolder } from "./step.ts";

const EXDEV = 18;

/** Collects the real directories in which names or whose attributes change, each once. */
export class TouchedFolders {
  readonly #root: OpenRoot;
  readonly #changes: ReadonlyMap<RelativePath, TreeChange>;
  readonly #mountId: number;
  readonly #positions = new Map<RelativePath, number>();
  readonly folders: TouchedFolder[] = [];

  constructor(root: OpenRoot, changes: ReadonlyMap<RelativePath, TreeChange>) {
    this.#root = root;
    this.#changes = changes;
    this.#mountId = statFd(root.fd).mountId;
  }

  /**
   * The position of a directory in the list, as it is now.
   * @throws NativeError ENOENT, ENOTDIR or ELOOP when it cannot be reached, EXDEV when it lies on another mount.
   */
  positionOf(path: RelativePath): number {
    const known = this.#positions.get(path);
    if (known !== undefined) return known;
    const position = this.folders.length;
    this.folders.push(this.#look(path));
    this.#positions.set(path, position);
    return position;
  }

  #look(path: RelativePath): TouchedFolder {
    const fd = this.#root.folders.open(path);
    const { mountId, ino } = statFd(fd);
    if (mountId !== this.#mountId) throw new NativeError(EXDEV, "stage", path);
    const { mode, uid, gid, xattrs, mtimeNs } = readFolderAttributes(fd);
    const before = { mode, uid, gid, xattrs };
    const change = this.#changes.get(path);
    const after = change?.implied === true ? null : (change?.after ?? null);
    const isChanged = after !== null && !isEqual(after, before);
    return {
      path,
      ino,
      before,
      beforeMtimeNs: mtimeNs ?? 0n,
      after: isChanged ? attributesOnly(after) : null,
      // A folder that the sandbox did not touch keeps its time, although entries in it are exchanged.
      afterMtimeNs: change?.after?.mtimeNs ?? mtimeNs,
      drifted:
        change?.before != null &&
        (change.before.ino !== ino || (isChanged && !isEqual(change.before, before))),
    };
  }
}

/** Whether two sets of attributes of a directory are equal. */
export function isEqual(a: FolderAttributes, b: FolderAttributes): boolean {
  return a.mode === b.mode && a.uid === b.uid && a.gid === b.gid && sameXattrs(a.xattrs, b.xattrs);
}

function attributesOnly({ mode, uid, gid, xattrs }: TreeEntry): FolderAttributes {
  return { mode, uid, gid, xattrs };
}
