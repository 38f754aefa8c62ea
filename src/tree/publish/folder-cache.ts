import type { BytePath } from "../../model/byte-path.ts";
import { OPEN, close, openBeneath } from "../../platform/native/index.ts";

const FOLDER = OPEN.readOnly | OPEN.directory | OPEN.noFollow;
const OPEN_AT_ONCE = 256;

/**
 * Descriptors of directories below a root, opened without following any link and kept for the next use.
 * Whoever makes the cache disposes of it; the root's descriptor stays the maker's.
 */
export class FolderCache implements Disposable {
  readonly #rootFd: number;
  readonly #open = new Map<string, number>();

  constructor(rootFd: number) {
    this.#rootFd = rootFd;
  }

  /** The descriptor of a directory below the root; the empty path is the root itself. Stays open while fewer than 256 others are used. */
  open(path: BytePath): number {
    if (path === "") return this.#rootFd;
    const known = this.#open.get(path);
    if (known !== undefined) {
      this.#open.delete(path);
      this.#open.set(path, known);
      return known;
    }
    if (this.#open.size >= OPEN_AT_ONCE) this.#closeOldest();
    const fd = openBeneath(this.#rootFd, path, FOLDER);
    this.#open.set(path, fd);
    return fd;
  }

  [Symbol.dispose](): void {
    for (const fd of this.#open.values()) close(fd);
    this.#open.clear();
  }

  #closeOldest(): void {
    for (const [path, fd] of this.#open) {
      this.#open.delete(path);
      close(fd);
      return;
    }
  }
}
