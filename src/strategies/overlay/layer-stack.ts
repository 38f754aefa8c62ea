import {
  type BytePath,
  type RelativePath,
  ROOT,
  isWithin,
  joinPath,
  nameOf,
  parentOf,
} from "../../model/byte-path.ts";
import {
  AT,
  type NativeStat,
  OPEN,
  close,
  openAt,
  openBeneath,
  statFd,
  throwUnlessErrno,
} from "../../platform/native/index.ts";
import { type OrdinaryUser, presentUser } from "../../tree/owners.ts";
import type { LayerMarks } from "./marks.ts";
import { findStat } from "./marks.ts";

const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;
const NOT_THERE = ["ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG"];

/** One layer of our own: the upper one or a frozen one. */
export interface Layer extends LayerMarks {
  /** 0 is the topmost. */
  readonly index: number;
  /** Absolute. */
  readonly path: BytePath;
}

/** A folder inside one layer. */
export interface LayerFolder {
  readonly layer: Layer;
  readonly path: RelativePath;
}

/** A folder of the view. */
export interface FolderNode {
  readonly kind: "folder";
  /** The folders of our own layers that it is merged from, the topmost first. */
  readonly parts: readonly LayerFolder[];
  /** The folder of the real tree that shows through; null when none does. */
  readonly base: RelativePath | null;
}

/** A file, link or special file of the view; it comes from one place alone. */
export interface LeafNode {
  readonly kind: "leaf";
  /** Null: from the real tree. */
  readonly layer: Layer | null;
  readonly path: RelativePath;
}

/** An entry of the view. */
export type ViewNode = FolderNode | LeafNode;

/** What a stack of layers is made of. */
export interface StackParts {
  /** The topmost first; absolute paths. */
  readonly layers: readonly (LayerMarks & { readonly path: BytePath })[];
  /** The real directory. */
  readonly root: BytePath;
  /** Paths of the real tree that no view shows. */
  readonly exclude: readonly RelativePath[];
  /** Who made the layers; the user of this process unless given. */
  readonly user?: OrdinaryUser | null | undefined;
  /** Whether they are mounted in a way that does without groups and set-group-ID bits. */
  readonly losesGroups?: boolean;
}

/**
 * The layers of one sandbox over the real tree, read without any mount. Holds the roots of all layers open; whoever
 * makes one disposes of it.
 */
export class LayerStack implements Disposable {
  readonly layers: readonly Layer[];
  readonly root: BytePath;
  readonly rootFd: number;
  /** Who made the layers; null for root. */
  readonly user: OrdinaryUser | null;
  /** Whether programs work in them in a way that does without groups and set-group-ID bits. */
  readonly losesGroups: boolean;
  readonly #exclude: readonly RelativePath[];
  readonly #mountId: number;
  readonly #open = new Map<number, number>();

  constructor(parts: StackParts) {
    this.layers = parts.layers.map((layer, index) => ({ ...layer, index }));
    this.root = parts.root;
    this.user = parts.user === undefined ? presentUser() : parts.user;
    this.losesGroups = parts.losesGroups === true;
    this.#exclude = parts.exclude;
    this.rootFd = openAt(AT.workingDirectory, parts.root, DIRECTORY);
    this.#mountId = statFd(this.rootFd).mountId;
  }

  /** The root of the view. */
  get rootNode(): FolderNode {
    return {
      kind: "folder",
      parts: this.layers.map((layer) => ({ layer, path: ROOT })),
      base: ROOT,
    };
  }

  /** The topmost layer, the only one that may be changed. */
  get upper(): Layer {
    const [upper] = this.layers;
    if (upper === undefined) throw new Error("a stack has at least one layer");
    return upper;
  }

  /** Opens a folder of a layer; the caller closes it. */
  openPart({ layer, path }: LayerFolder): number {
    return openBeneath(this.layerFd(layer), path, DIRECTORY);
  }

  /** The open root of a layer; belongs to the stack. */
  layerFd(layer: Layer): number {
    const known = this.#open.get(layer.index);
    if (known !== undefined) return known;
    const fd = openAt(AT.workingDirectory, layer.path, DIRECTORY);
    this.#open.set(layer.index, fd);
    return fd;
  }

  /**
   * Opens a folder of the real tree; the caller closes it. Null when it is gone, hidden, no folder any more, or the
   * root of another mount, whose content an overlay does not show.
   */
  openBase(path: RelativePath): number | null {
    if (this.isHidden(path)) return null;
    let fd: number;
    try {
      fd = openBeneath(this.rootFd, path, DIRECTORY);
    } catch (error) {
      throwUnlessErrno(error, ...NOT_THERE);
      return null;
    }
    if (statFd(fd).mountId === this.#mountId) return fd;
    close(fd);
    return null;
  }

  /** What the real tree has at a path; null when nothing, or when no view may show it. */
  statBase(path: RelativePath): NativeStat | null {
    if (this.isHidden(path)) return null;
    if (path === ROOT) return statFd(this.rootFd);
    const fd = this.openBase(parentOf(path));
    if (fd === null) return null;
    try {
      return findStat(fd, nameOf(path));
    } finally {
      close(fd);
    }
  }

  /** Whether the entry belongs to another mount than the root. */
  isOtherMount(stat: NativeStat): boolean {
    return stat.mountId !== this.#mountId;
  }

  /** Whether a path of the real tree is kept out of every view. */
  isHidden(path: RelativePath): boolean {
    return this.#exclude.some((hidden) => isWithin(path, hidden));
  }

  /** Where an entry of the view really lies. */
  sourceOf(node: ViewNode): BytePath {
    if (node.kind === "leaf") return below(node.layer?.path ?? this.root, node.path);
    const [top] = node.parts;
    return top === undefined
      ? below(this.root, node.base ?? ROOT)
      : below(top.layer.path, top.path);
  }

  [Symbol.dispose](): void {
    for (const fd of this.#open.values()) close(fd);
    this.#open.clear();
    close(this.rootFd);
  }
}

function below(root: BytePath, path: RelativePath): BytePath {
  return path === ROOT ? root : joinPath(root, path);
}
