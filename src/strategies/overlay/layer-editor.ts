import { writeSync } from "node:fs";
import {
  type BytePath,
  type RelativePath,
  ROOT,
  isWithin,
  nameOf,
  parentOf,
} from "../../model/byte-path.ts";
import {
  RENAME,
  close,
  renameAt,
  throwUnlessErrno,
  unlinkAt,
} from "../../platform/native/index.ts";
import { pathError, refuseOverwrite } from "../../tree/beneath.ts";
import { attributesOf, setAttributes, withoutSpecialBits } from "../../tree/entry-attributes.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import { markCopy } from "./base-mark.ts";
import { copyNode } from "./copy-node.ts";
import type { FolderNode, LayerStack, ViewNode } from "./layer-stack.ts";
import { lowerPathOf } from "./lower-path.ts";
import { findStat, makeWhiteout, markOpaque, markRedirect } from "./marks.ts";
import type { SpareFolder } from "./spare-folder.ts";
import { type UpperFolder, openUpperFolder } from "./upper-folder.ts";
import { findNode, readNode } from "./view-node.ts";

const SPECIAL_BITS = 0o7000;

/** Changes the upper layer as the kernel would through a mount, without one. */
export class LayerEditor {
  readonly #stack: LayerStack;
  readonly #spare: SpareFolder;
  readonly #mayRedirect: boolean;

  /** `mayRedirect` says that every mount of these layers follows redirects, as only root's own do. */
  constructor(stack: LayerStack, spare: SpareFolder, mayRedirect: boolean) {
    this.#stack = stack;
    this.#spare = spare;
    this.#mayRedirect = mayRedirect;
  }

  /** Replaces or creates a file; missing folders are made, mode, owner and attributes of an existing one stay. */
  write(path: RelativePath, content: Uint8Array): void {
    if (path === ROOT) throw pathError(path, "directory");
    using folder = this.#folderOf(path, true);
    const node = folder.lookUp(nameOf(path));
    const existing = node === null ? null : readNode(this.#stack, node);
    refuseOverwrite(path, existing);
    const spare = this.#spare.newName();
    const fd = this.#spare.newFile(folder.upper, spare);
    try {
      for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
      if (existing !== null) this.#takeAfter(fd, path, existing);
      renameAt(this.#spare.fd, spare, folder.upper, nameOf(path));
    } catch (error) {
      unlinkAt(this.#spare.fd, spare);
      throw error;
    } finally {
      close(fd);
    }
  }

  /** Removes an entry, a directory with everything below. */
  remove(path: RelativePath): void {
    if (path === ROOT) throw pathError(path, "outside");
    if (findNode(this.#stack, path) === null) throw pathError(path, "missing");
    using folder = this.#folderOf(path, false);
    this.#takeAway(folder, nameOf(path));
  }

  /** Moves an entry to a name that is free; missing folders are made. */
  rename(from: RelativePath, to: RelativePath): void {
    if (from === ROOT || to === ROOT) throw pathError(from, "outside");
    const node = findNode(this.#stack, from);
    if (node === null) throw pathError(from, "missing");
    if (findNode(this.#stack, to) !== null) throw pathError(to, "exists");
    if (isWithin(to, from)) throw pathError(to, "notDirectory");
    if (node.kind === "leaf" && readNode(this.#stack, node).type === "special") {
      throw pathError(from, "special");
    }
    // The target's folders first: making them may give the source's folder its part in the upper layer.
    using target = this.#folderOf(to, true);
    using source = this.#folderOf(from, false);
    if (node.kind === "leaf" && node.layer?.index === 0) {
      this.#move(source, nameOf(from), target, nameOf(to));
    } else if (node.kind === "folder" && this.#canMoveFolder(node)) {
      this.#markMoved(node, from);
      this.#move(source, nameOf(from), target, nameOf(to));
    } else {
      const spare = this.#spare.newName();
      const { dialect } = this.#stack.upper;
      const marks = { dialect, stands: () => from };
      copyNode(this.#stack, node, this.#spare.fd, spare as RelativePath, marks);
      this.#spare.putInPlace(spare, target.upper, nameOf(to));
      this.#takeAway(source, nameOf(from));
    }
  }

  /** A folder that is in the upper layer alone, or, where redirects are followed, any folder. */
  #canMoveFolder(node: FolderNode): boolean {
    return this.#mayRedirect || isUpperAlone(node);
  }

  /** Tells a folder that is about to be moved where its lower parts are, or that it has none. */
  #markMoved(node: FolderNode, from: RelativePath): void {
    const request = { path: from, asked: from, mayCreate: false };
    using folder = openUpperFolder(this.#stack, this.#spare, request);
    if (isUpperAlone(node)) markOpaque(folder.upper, this.#stack.upper.dialect);
    else markRedirect(folder.upper, lowerPathOf(this.#stack, from));
  }

  #move(source: UpperFolder, name: BytePath, target: UpperFolder, newName: BytePath): void {
    const needsWhiteout = source.existsBelowUpper(name);
    if (findStat(target.upper, newName) !== null) {
      // Only a whiteout can be there; the exchange leaves it at the old name.
      renameAt(source.upper, name, target.upper, newName, RENAME.exchange);
      if (!needsWhiteout) unlinkAt(source.upper, name);
    } else if (needsWhiteout) {
      this.#moveLeavingWhiteout(source.upper, name, target.upper, newName);
    } else {
      renameAt(source.upper, name, target.upper, newName, RENAME.noReplace);
    }
  }

  #moveLeavingWhiteout(fromFd: number, name: string, toFd: number, newName: string): void {
    try {
      renameAt(fromFd, name, toFd, newName, RENAME.noReplace | RENAME.whiteout);
    } catch (error) {
      throwUnlessErrno(error, "EINVAL", "EPERM");
      const spare = this.#spare.newName();
      makeWhiteout(this.#spare.fd, spare);
      renameAt(this.#spare.fd, spare, toFd, newName, RENAME.noReplace);
      renameAt(fromFd, name, toFd, newName, RENAME.exchange);
    }
  }

  /** Takes a name out of the view: with a whiteout when a lower layer has it too. */
  #takeAway(folder: UpperFolder, name: BytePath): void {
    if (!folder.existsBelowUpper(name)) {
      this.#spare.takeAway(folder.upper, name);
      return;
    }
    const spare = this.#spare.newName();
    makeWhiteout(this.#spare.fd, spare);
    this.#spare.putInPlace(spare, folder.upper, name);
  }

  #folderOf(path: RelativePath, mayCreate: boolean): UpperFolder {
    const request = { path: parentOf(path), asked: path, mayCreate };
    return openUpperFolder(this.#stack, this.#spare, request);
  }

  /** Gives new content the attributes of the file that it replaces; special bits only as a note. */
  #takeAfter(fd: number, path: RelativePath, existing: TreeEntry): void {
    setAttributes(fd, { ...withoutSpecialBits(attributesOf(existing)), mtimeNs: null });
    markCopy(this.#stack, fd, path, existing.mode & SPECIAL_BITS);
  }
}

function isUpperAlone(node: ViewNode): boolean {
  return (
    node.kind === "folder" &&
    node.base === null &&
    node.parts.every((part) => part.layer.index === 0)
  );
}
