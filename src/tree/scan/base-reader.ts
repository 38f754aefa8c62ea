import type { RelativePath } from "../../model/byte-path.ts";
import { nameOf, parentOf } from "../../model/byte-path.ts";
import { close, throwUnlessErrno } from "../../platform/native/index.ts";
import { haveEqualContent } from "../content.ts";
import { folderEntry } from "../folder-entry.ts";
import { findEntry } from "../read-entry.ts";
import { type TreeEntry, sameIdentity } from "../tree-entry.ts";
import type { Manifest } from "./manifest.ts";
import { openFolder } from "./open-directory.ts";

/** Reads entries of a tree as the base of a workspace; keeps the last folder open. */
export class BaseReader {
  readonly #manifest: Manifest;
  readonly #rootOf: (path: RelativePath) => number;
  #root = -1;
  #folder: RelativePath | null = null;
  #fd = -1;

  /** `rootOf` gives the open root of the tree that has the base of a path. */
  constructor(manifest: Manifest, rootOf: (path: RelativePath) => number) {
    this.#manifest = manifest;
    this.#rootOf = rootOf;
  }

  /** The base entry: with all attributes while the real one is untouched, else what the manifest recorded. */
  entry(record: number, path: RelativePath): { entry: TreeEntry; isIntact: boolean } {
    const recorded = this.#manifest.baseEntry(record);
    const real = path === "" ? folderEntry(this.#rootOf(path)) : this.#find(path);
    if (real === null) return { entry: recorded, isIntact: false };
    // Folders change their times with every entry; their other attributes are what counts.
    const isSameFolder =
      real.type === "directory" && recorded.type === "directory" && real.ino === recorded.ino;
    if (isSameFolder) return { entry: { ...recorded, xattrs: real.xattrs }, isIntact: true };
    return sameIdentity(real, recorded)
      ? { entry: real, isIntact: true }
      : { entry: recorded, isIntact: false };
  }

  /** Whether the real file and an entry of the workspace hold the same bytes. */
  hasEqualContent(path: RelativePath, workspaceFd: number, name: string): boolean {
    const fd = this.#open(path);
    return fd >= 0 && haveEqualContent(fd, nameOf(path), workspaceFd, name);
  }

  close(): void {
    if (this.#fd >= 0) close(this.#fd);
    this.#fd = -1;
    this.#folder = null;
  }

  #find(path: RelativePath): TreeEntry | null {
    const fd = this.#open(path);
    return fd < 0 ? null : findEntry(fd, nameOf(path));
  }

  /** The folder above a path; -1 when there is none. */
  #open(path: RelativePath): number {
    const [folder, root] = [parentOf(path), this.#rootOf(path)];
    if (this.#folder === folder && this.#root === root) return this.#fd;
    this.close();
    this.#root = root;
    try {
      this.#fd = openFolder(root, folder);
    } catch (error) {
      throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EXDEV");
      this.#fd = -1;
    }
    this.#folder = folder;
    return this.#fd;
  }
}
