import { type RelativePath, ROOT, joinPath, nameOf, parentOf } from "../../model/byte-path.ts";
import {
  type FileHandle,
  close,
  fileHandleAt,
  readDirectory,
} from "../../platform/native/index.ts";
import { readOriginAt } from "./base-mark.ts";
import type { Layer, LayerStack } from "./layer-stack.ts";

/** A file handle as text. */
export function handleKey({ type, bytes }: FileHandle): string {
  return `${type}:${bytes.toString("hex")}`;
}

/**
 * Where copied-up files came from, for those few whose path does not tell: the kernel notes the handle of the file
 * that it copied, which may lie in the real tree or in a frozen layer, and may have been renamed since.
 */
export class Origins {
  readonly #frozen = new Map<string, string | null>();
  readonly #touched = new Set<string>();

  /** `touched` are the files of the real tree that the sandbox copied, replaced, moved or removed. */
  constructor(stack: LayerStack, touched: readonly RelativePath[]) {
    for (const layer of stack.layers.slice(1)) this.#collect(stack, layer, ROOT);
    for (const path of touched) {
      const fd = stack.openBase(parentOf(path));
      if (fd === null) continue;
      try {
        const handle = fileHandleAt(fd, nameOf(path));
        if (handle !== null) this.#touched.add(handleKey(handle));
      } finally {
        close(fd);
      }
    }
  }

  /** Whether the file with this handle was one of the real tree and is not there any more. */
  isGone(origin: string): boolean {
    let key: string | null = origin;
    for (
      let steps = this.#frozen.size;
      key !== null && this.#frozen.has(key) && steps >= 0;
      steps--
    ) {
      key = this.#frozen.get(key) ?? null;
    }
    return key !== null && !this.#touched.has(key);
  }

  #collect(stack: LayerStack, layer: Layer, path: RelativePath): void {
    const folders: RelativePath[] = [];
    const fd = stack.openPart({ layer, path });
    try {
      for (const { name, type } of readDirectory(fd)) {
        if (type === "directory") folders.push(joinPath(path, name));
        if (type !== "file") continue;
        const handle = fileHandleAt(fd, name);
        const origin = readOriginAt(fd, name, layer.dialect);
        if (handle !== null) this.#frozen.set(handleKey(handle), origin && handleKey(origin));
      }
    } finally {
      close(fd);
    }
    for (const folder of folders) this.#collect(stack, layer, folder);
  }
}
