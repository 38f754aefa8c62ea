import {
  type BytePath,
  type RelativePath,
  ROOT,
  joinPath,
  parentOf,
} from "../../model/byte-path.ts";
import {
  type NativeStat,
  OPEN,
  close,
  openAt,
  readDirectory,
} from "../../platform/native/index.ts";
import type {
  FolderNode,
  Layer,
  LayerFolder,
  LayerStack,
  LeafNode,
  ViewNode,
} from "./layer-stack.ts";
import { FUSE_PREFIX, type FolderMarks, findStat, isWhiteout, readFolderMarks } from "./marks.ts";

const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;

/** A folder of a layer, open, with what it says about itself. */
interface OpenPart extends LayerFolder {
  readonly fd: number;
  readonly marks: FolderMarks;
}

/** A look-up on its way down through the layers, as the kernel does it. */
interface Search {
  /** A name, or after an absolute redirect a path from the root with a leading slash. */
  target: string;
  isFolder: boolean;
  /** No lower layer may add anything. */
  isDone: boolean;
}

/** What one layer has under a name. */
type Found = { readonly path: RelativePath; readonly isFolder: boolean } | null;

/** Where a leaf lies, and what the kernel told of it a moment ago. */
export interface Holder {
  readonly fd: number;
  readonly stat: NativeStat | undefined;
}

/** Reads one folder of the view; whoever makes it disposes of it. */
export class FolderReader implements Disposable {
  readonly #stack: LayerStack;
  readonly #node: FolderNode;
  readonly #parts: OpenPart[] = [];
  #base: number | null | undefined;
  /** What the last look-up found. */
  #lastLeaf: {
    readonly layer: Layer;
    readonly path: RelativePath;
    readonly stat: NativeStat;
  } | null = null;

  constructor(stack: LayerStack, node: FolderNode) {
    this.#stack = stack;
    this.#node = node;
    try {
      for (const part of node.parts) this.#parts.push(openMarked(stack, part));
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** The folder of the upper layer; null when the view's folder has no part there. */
  get upperFd(): number | null {
    const [top] = this.#parts;
    return top?.layer.index === 0 ? top.fd : null;
  }

  /** The open part of the real tree; null when nothing of it shows here. Belongs to the reader. */
  get baseFd(): number | null {
    if (this.#base === undefined) {
      this.#base = this.#node.base === null ? null : this.#stack.openBase(this.#node.base);
    }
    return this.#base;
  }

  /** Names that our own layers speak of here, removed ones included. */
  ownNames(): Set<BytePath> {
    const names = new Set<BytePath>();
    for (const part of this.#parts) {
      for (const { name } of readDirectory(part.fd)) {
        const shown = part.layer.isFuse ? nameBehind(name) : name;
        if (shown !== null) names.add(shown as BytePath);
      }
    }
    return names;
  }

  /** Names that the real tree adds to this folder. */
  baseNames(): BytePath[] {
    const fd = this.baseFd;
    if (fd === null) return [];
    return readDirectory(fd).map(({ name }) => name as BytePath);
  }

  /** Every entry of the folder as the view has it, sorted by name. */
  entries(): (readonly [BytePath, ViewNode])[] {
    const names = this.ownNames();
    for (const name of this.baseNames()) names.add(name);
    return [...names].sort().flatMap((name) => {
      const node = this.lookUp(name);
      return node === null ? [] : [[name, node] as const];
    });
  }

  /** The open folder of this reader that holds a leaf; null when the leaf lies elsewhere. Belongs to the reader. */
  holderOf({ layer, path }: LeafNode): Holder | null {
    if (layer === null) return null;
    const folder = parentOf(path);
    const part = this.#parts.find((own) => own.layer === layer && own.path === folder);
    if (part === undefined) return null;
    const isLast = this.#lastLeaf?.path === path && this.#lastLeaf.layer === layer;
    return { fd: part.fd, stat: isLast ? this.#lastLeaf?.stat : undefined };
  }

  /** The entry that the view has under a name. */
  lookUp(name: BytePath): ViewNode | null {
    const search: Search = { target: name, isFolder: false, isDone: false };
    const parts: LayerFolder[] = [];
    for (const part of this.#parts) {
      if (search.isDone || search.target.startsWith("/")) break;
      const found = this.#step(part.fd, part, search.target as BytePath, search, "", "");
      if (found?.isFolder === false) return { kind: "leaf", layer: part.layer, path: found.path };
      if (found !== null) parts.push({ layer: part.layer, path: found.path });
      if (search.target.startsWith("/")) return this.#fromRoot(part.layer, search, parts);
    }
    const base = search.isDone ? null : this.#stepBase(search.target as BytePath);
    return this.#result(parts, base);
  }

  /** Whether anything below the upper layer has this name, so that removing it takes a whiteout. */
  existsBelowUpper(name: BytePath): boolean {
    return this.lookUpBelowUpper(name) !== null;
  }

  /** The entry that the view would have under a name if the upper layer were not there. */
  lookUpBelowUpper(name: BytePath): ViewNode | null {
    const [top] = this.#parts;
    if (top?.layer.index !== 0) return this.lookUp(name);
    if (top.marks.isOpaque) return null;
    using lower = new FolderReader(this.#stack, {
      ...this.#node,
      parts: this.#node.parts.slice(1),
    });
    return lower.lookUp(name);
  }

  [Symbol.dispose](): void {
    for (const part of this.#parts.splice(0)) close(part.fd);
    if (typeof this.#base === "number") close(this.#base);
    this.#base = null;
  }

  /** After an absolute redirect every lower layer is searched from its root. */
  #fromRoot(above: Layer, search: Search, parts: LayerFolder[]): ViewNode | null {
    for (const layer of this.#stack.layers.slice(above.index + 1)) {
      if (search.isDone) break;
      const found = this.#walk(layer, search);
      if (found?.isFolder === false) {
        return parts.length > 0
          ? this.#result(parts, null)
          : { kind: "leaf", layer, path: found.path };
      }
      if (found !== null) parts.push({ layer, path: found.path });
    }
    const path = search.target.slice(1) as RelativePath;
    const stat = search.isDone ? null : this.#stack.statBase(path);
    return this.#result(
      parts,
      stat === null ? null : { path, isFolder: stat.type === "directory" },
    );
  }

  #result(parts: readonly LayerFolder[], base: Found): ViewNode | null {
    if (parts.length > 0) {
      return { kind: "folder", parts, base: base?.isFolder === true ? base.path : null };
    }
    if (base === null) return null;
    return base.isFolder
      ? { kind: "folder", parts, base: base.path }
      : { kind: "leaf", layer: null, path: base.path };
  }

  #stepBase(name: BytePath): Found {
    const fd = this.baseFd;
    if (fd === null || this.#node.base === null) return null;
    const path = joinPath(this.#node.base, name);
    const stat = this.#stack.isHidden(path) ? null : findStat(fd, name);
    return stat === null ? null : { path, isFolder: stat.type === "directory" };
  }

  /** Looks a path up in one layer from its root; folders on the way may send the lower layers elsewhere. */
  #walk(layer: Layer, search: Search): Found {
    const names = search.target.slice(1).split("/") as BytePath[];
    let at: LayerFolder = { layer, path: ROOT };
    for (const [index, name] of names.entries()) {
      const fd = this.#stack.openPart(at);
      try {
        const part = { ...at, marks: readFolderMarks(fd, layer) };
        const before = `/${names.slice(0, index).join("/")}`;
        const after = names.slice(index + 1);
        const found = this.#step(
          fd,
          part,
          name,
          search,
          before === "/" ? before : `${before}/`,
          after.map((next) => `/${next}`).join(""),
        );
        if (found === null || after.length === 0) return found;
        at = { layer, path: found.path };
      } finally {
        close(fd);
      }
    }
    return null;
  }

  /** One name in one folder of one layer; tells the search what that means for the layers below. */
  #step(
    fd: number,
    part: LayerFolder & { readonly marks: FolderMarks },
    name: BytePath,
    search: Search,
    before: string,
    after: string,
  ): Found {
    const { layer } = part;
    if (layer.isFuse && findStat(fd, `${FUSE_PREFIX}${name}`) !== null) {
      search.isDone = true;
      return null;
    }
    const stat = findStat(fd, name);
    if (stat === null) {
      // An opaque folder hides what the layers below it have, whether or not it has the name itself.
      if (part.marks.isOpaque) search.isDone = true;
      return null;
    }
    const path = joinPath(part.path, name);
    if (stat.type !== "directory") return this.#leaf(fd, part, name, stat, search, path, after);
    if (after === "") search.isFolder = true;
    const child = openAt(fd, name, DIRECTORY);
    try {
      const marks = readFolderMarks(child, layer);
      if (marks.isOpaque || part.marks.isOpaque) search.isDone = true;
      if (!marks.isOpaque && marks.redirect !== null) {
        const isAbsolute = marks.redirect.startsWith("/");
        if (isAbsolute) search.isDone = false;
        search.target = `${isAbsolute ? "" : before}${marks.redirect}${after}`;
      }
    } finally {
      close(child);
    }
    return { path, isFolder: true };
  }

  #leaf(
    fd: number,
    part: LayerFolder & { readonly marks: FolderMarks },
    name: BytePath,
    stat: NativeStat,
    search: Search,
    path: RelativePath,
    after: string,
  ): Found {
    search.isDone = true;
    if (isWhiteout(fd, name, stat, part.layer, part.marks)) return null;
    if (search.isFolder || after !== "") return null;
    this.#lastLeaf = { layer: part.layer, path, stat };
    return { path, isFolder: false };
  }
}

function openMarked(stack: LayerStack, part: LayerFolder): OpenPart {
  const fd = stack.openPart(part);
  let marks: FolderMarks | undefined;
  try {
    marks = readFolderMarks(fd, part.layer);
    return { ...part, fd, marks };
  } finally {
    if (marks === undefined) close(fd);
  }
}

/** The name that a name in a layer of fuse-overlayfs speaks of; null for its notes about the folder itself. */
function nameBehind(name: string): string | null {
  if (!name.startsWith(FUSE_PREFIX)) return name;
  const rest = name.slice(FUSE_PREFIX.length);
  return rest === "" || rest.startsWith(FUSE_PREFIX) || rest === ".opq" ? null : rest;
}
