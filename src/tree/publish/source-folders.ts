import { PathEscapeError } from "../../errors/index.ts";
import { type BytePath, displayPath, nameOf } from "../../model/byte-path.ts";
import { AT, OPEN, close, openAt } from "../../platform/native/index.ts";
import { FolderCache } from "./folder-cache.ts";

const FOLDER = OPEN.readOnly | OPEN.directory | OPEN.noFollow;

interface SourceRoot {
  readonly fd: number;
  readonly folders: FolderCache;
}

/**
 * Folders of sandbox entries, reached only through the given roots and never over a link below them. Whoever makes it
 * disposes of it.
 */
export class SourceFolders implements Disposable {
  readonly #roots: readonly BytePath[];
  readonly #open = new Map<BytePath, SourceRoot>();

  constructor(roots: readonly BytePath[]) {
    this.#roots = roots;
  }

  /**
   * The descriptor of the folder that holds a source.
   * @throws PathEscapeError (`PATH_ESCAPE`) for a source outside the roots.
   */
  open(source: BytePath): number {
    const parent = source.slice(0, -nameOf(source).length - 1);
    for (const path of this.#roots) {
      if (parent === path) return this.#root(path).fd;
      if (parent.startsWith(`${path}/`)) {
        return this.#root(path).folders.open(parent.slice(path.length + 1) as BytePath);
      }
    }
    throw new PathEscapeError("a source lies outside the sandbox", {
      data: {
        requested: displayPath(source),
        root: this.#roots.map(displayPath).join(", "),
      },
    });
  }

  [Symbol.dispose](): void {
    for (const { fd, folders } of this.#open.values()) {
      folders[Symbol.dispose]();
      close(fd);
    }
    this.#open.clear();
  }

  #root(path: BytePath): SourceRoot {
    const known = this.#open.get(path);
    if (known !== undefined) return known;
    const fd = openAt(AT.workingDirectory, path, FOLDER);
    const root = { fd, folders: new FolderCache(fd) };
    this.#open.set(path, root);
    return root;
  }
}
