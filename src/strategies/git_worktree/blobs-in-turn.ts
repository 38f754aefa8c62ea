import type { RelativePath } from "../../model/byte-path.ts";
import type { Blobs, PlacedEntry } from "./blobs.ts";

/** A file and how large it is in a checkout. */
export interface SizedFile {
  readonly entry: PlacedEntry;
  readonly size: number;
}

/** So much is read at once and kept until somebody asks for it. */
const MOST_FILES = 64;
const MOST_BYTES = 8 << 20;

/**
 * Contents of files that are asked for in their order, one after the other, as the text of a diff does. Those that come
 * next are read along: a git of its own for each takes longer than everything else.
 */
export class BlobsInTurn {
  readonly #blobs: Blobs;
  readonly #files: readonly SizedFile[];
  readonly #places: ReadonlyMap<RelativePath, number>;
  #ready = new Map<RelativePath, Buffer>();

  constructor(blobs: Blobs, files: readonly SizedFile[]) {
    this.#blobs = blobs;
    this.#files = files;
    this.#places = new Map(files.map(({ entry }, at) => [entry.path, at]));
  }

  /** The content of one of the files; null for any other path. */
  async read(path: RelativePath): Promise<Buffer | null> {
    const at = this.#places.get(path);
    if (at === undefined) return null;
    if (!this.#ready.has(path)) await this.#readFrom(at);
    const content = this.#ready.get(path) ?? null;
    this.#ready.delete(path);
    return content;
  }

  async #readFrom(at: number): Promise<void> {
    const part: PlacedEntry[] = [];
    let bytes = 0;
    for (const { entry, size } of this.#files.slice(at, at + MOST_FILES)) {
      bytes += size;
      if (part.length > 0 && bytes > MOST_BYTES) break;
      part.push(entry);
    }
    const contents = await this.#blobs.readAll(part);
    this.#ready = new Map(
      part.map(({ path }, index) => [path, contents[index] ?? Buffer.alloc(0)]),
    );
  }
}
