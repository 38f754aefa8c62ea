import { type RelativePath, joinPath, nameOf, parentOf } from "../../model/byte-path.ts";
import {
  OPEN,
  close,
  linkAt,
  mkdirAt,
  openAt,
  openBeneath,
  symlinkAt,
} from "../../platform/native/index.ts";
import { copyFileTo } from "../../tree/copy-entry.ts";
import { attributesOf, setAttributes, setLinkAttributes } from "../../tree/entry-attributes.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import { pathKey, pathMark, writeBaseMark } from "./base-mark.ts";
import { FolderReader } from "./folder-reader.ts";
import type { FolderNode, LayerStack, ViewNode } from "./layer-stack.ts";
import { type Dialect, markOpaque } from "./marks.ts";
import { readNode, withHolder } from "./view-node.ts";

const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;
const SPECIAL_BITS = 0o7000;

/** How copies that stay in the layers are marked. */
export interface CopyMarks {
  readonly dialect: Dialect;
  /** The path that an entry of the copy stands for; `below` is where it lies below the copy's root. */
  readonly stands: (below: RelativePath) => RelativePath;
  /** Whether folders are marked as well, because they stand for real ones. */
  readonly folders?: boolean;
}

/**
 * Copies an entry of the view with everything below it into an open folder; hard links among the copied files stay.
 * Special files are left out, and so are the special bits of files, which a mark remembers. Without marks the copy is
 * a plain one for use outside the layers.
 */
export function copyNode(
  stack: LayerStack,
  node: ViewNode,
  targetFd: number,
  name: RelativePath,
  marks: CopyMarks | null,
): void {
  const copier = new NodeCopier(stack, targetFd, marks);
  copier.copy(node, targetFd, name);
  if (node.kind !== "folder" || marks === null) return;
  const fd = openAt(targetFd, name, DIRECTORY);
  try {
    markOpaque(fd, marks.dialect);
  } finally {
    close(fd);
  }
}

class NodeCopier {
  readonly #stack: LayerStack;
  readonly #marks: CopyMarks | null;
  readonly #rootFd: number;
  readonly #links = new Map<string, RelativePath>();

  constructor(stack: LayerStack, rootFd: number, marks: CopyMarks | null) {
    this.#stack = stack;
    this.#rootFd = rootFd;
    this.#marks = marks;
  }

  /** `path` is the new entry from the root of the copy, `dirFd` the folder that holds it. */
  copy(node: ViewNode, dirFd: number, path: RelativePath): void {
    const entry = readNode(this.#stack, node);
    if (node.kind === "folder") this.#folder(node, entry, dirFd, path);
    else if (entry.type === "symlink") this.#symlink(entry, dirFd, nameOf(path));
    else if (entry.type === "file") this.#file(node, entry, dirFd, path);
  }

  #folder(node: FolderNode, entry: TreeEntry, dirFd: number, path: RelativePath): void {
    mkdirAt(dirFd, nameOf(path), 0o700);
    const fd = openAt(dirFd, nameOf(path), DIRECTORY);
    try {
      using reader = new FolderReader(this.#stack, node);
      for (const [name, child] of reader.entries()) this.copy(child, fd, joinPath(path, name));
      setAttributes(fd, attributesOf(entry));
      if (this.#marks?.folders === true) {
        writeBaseMark(fd, this.#marks.dialect, pathMark(this.#marks.stands(belowRoot(path))));
      }
    } finally {
      close(fd);
    }
  }

  #symlink(entry: TreeEntry, dirFd: number, name: string): void {
    symlinkAt(entry.target!, dirFd, name);
    setLinkAttributes(dirFd, name, attributesOf(entry));
  }

  #file(node: ViewNode, entry: TreeEntry, dirFd: number, path: RelativePath): void {
    const key = `${entry.dev}:${entry.ino}`;
    const first = entry.nlink > 1 ? this.#links.get(key) : undefined;
    if (first !== undefined) {
      this.#hardLink(first, dirFd, nameOf(path));
      return;
    }
    this.#links.set(key, path);
    const attributes = attributesOf(entry);
    withHolder(this.#stack, node, (sourceFd, source) =>
      copyFileTo(sourceFd, source, dirFd, nameOf(path), { reflink: "auto", attributes }),
    );
    if (this.#marks === null) return;
    const { dialect } = this.#marks;
    const fd = openAt(dirFd, nameOf(path), OPEN.readOnly | OPEN.noFollow);
    try {
      const key = pathKey(this.#marks.stands(belowRoot(path)));
      const specialBits = entry.mode & SPECIAL_BITS;
      writeBaseMark(fd, dialect, { specialBits, ino: entry.ino, handle: null, pathKey: key });
    } finally {
      close(fd);
    }
  }

  #hardLink(first: RelativePath, dirFd: number, name: string): void {
    const fd = openBeneath(this.#rootFd, parentOf(first), DIRECTORY);
    try {
      linkAt(fd, nameOf(first), dirFd, name);
    } finally {
      close(fd);
    }
  }
}

/** Where an entry lies below the copy's root, whose own name does not count. */
function belowRoot(path: RelativePath): RelativePath {
  return path.split("/").slice(1).join("/") as RelativePath;
}
