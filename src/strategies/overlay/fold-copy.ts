import { type RelativePath, ROOT, ancestorsOf, nameOf, parentOf } from "../../model/byte-path.ts";
import { OPEN, close, linkAt, openAt, symlinkAt } from "../../platform/native/index.ts";
import { copyFileTo } from "../../tree/copy-entry.ts";
import { attributesOf, setLinkAttributes } from "../../tree/entry-attributes.ts";
import { openFolder, withRoot } from "../../tree/scan/open-directory.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import { keepsSpecialBits } from "../../tree/special-bits.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { markCopy, pathMark, writeBaseMark } from "./base-mark.ts";
import {
  type Fingerprint,
  compareCopiedView,
  copiedTree,
  rememberCopiedView,
} from "./copy-view.ts";
import { startUpper } from "./layer-control.ts";
import { LayerEditor } from "./layer-editor.ts";
import type { LayerStack } from "./layer-stack.ts";
import { replaceAttributes } from "./marks.ts";
import { openLayers, requireState, withSpare } from "./sandbox-files.ts";
import type { SpareFolder } from "./spare-folder.ts";
import { limitLayers } from "./squash-layers.ts";
import { type OverlayState, saveState } from "./state.ts";
import { openUpperFolder } from "./upper-folder.ts";
import { findNode, readNode } from "./view-node.ts";

const SPECIAL_BITS = 0o7000;

/**
 * Brings what programs did in a copied view into the layers: as a new upper layer above all present ones, which counts
 * only once it is complete. Nothing is moved out of the copy, so a kill loses nothing and the copy stays usable.
 */
export async function foldCopiedView(
  place: SandboxPlace,
  state: OverlayState,
): Promise<OverlayState> {
  const { entries, known, touched, removed } = compareCopiedView(place);
  if (touched.length === 0 && removed.length === 0) return state;
  const next = await startUpper(place, state);
  await withSpare(place, (spare) => {
    using stack = openLayers(place, next);
    withRoot(copiedTree(place), (copyFd) => {
      const folding = new Folding(stack, spare, copyFd, known);
      for (const path of removed) folding.remove(path);
      for (const path of touched) folding.put(path, entries.get(path));
      for (const path of touched.toReversed()) folding.finishFolder(path, entries.get(path));
    });
  });
  const saved = await saveState(place.directory, next);
  rememberCopiedView(place, entries);
  return limitLayers(place, saved);
}

/** The state of a sandbox after what was done in a copied view has reached the layers. */
export async function foldedState(place: SandboxPlace): Promise<OverlayState> {
  const state = await requireState(place);
  return state.view === "copy" ? foldCopiedView(place, state) : state;
}

class Folding {
  readonly #stack: LayerStack;
  readonly #spare: SpareFolder;
  readonly #copyFd: number;
  readonly #known: ReadonlyMap<RelativePath, Fingerprint>;
  readonly #editor: LayerEditor;
  readonly #links = new Map<string, RelativePath>();

  constructor(
    stack: LayerStack,
    spare: SpareFolder,
    copyFd: number,
    known: ReadonlyMap<RelativePath, Fingerprint>,
  ) {
    this.#known = known;
    this.#stack = stack;
    this.#spare = spare;
    this.#copyFd = copyFd;
    this.#editor = new LayerEditor(stack, spare, false);
  }

  remove(path: RelativePath): void {
    if (findNode(this.#stack, path) !== null) this.#editor.remove(path);
  }

  put(path: RelativePath, entry: TreeEntry | undefined): void {
    if (entry === undefined || path === ROOT || entry.type === "special") return;
    const node = findNode(this.#stack, path);
    if (node !== null && (node.kind === "folder") !== (entry.type === "directory")) {
      this.#editor.remove(path);
    }
    const request = { asked: path, mayCreate: true };
    const lost = this.#lostFolders(path, entry);
    if (entry.type === "directory") {
      openUpperFolder(this.#stack, this.#spare, { ...request, path })[Symbol.dispose]();
      this.#noteLost(lost);
      return;
    }
    using folder = openUpperFolder(this.#stack, this.#spare, { ...request, path: parentOf(path) });
    this.#noteLost(lost);
    const spare = this.#spare.newName();
    if (entry.type === "symlink") {
      symlinkAt(entry.target!, this.#spare.fd, spare);
      setLinkAttributes(this.#spare.fd, spare, attributesOf(entry));
    } else this.#file(path, entry, spare);
    this.#spare.putInPlace(spare, folder.upper, nameOf(path));
  }

  /** Times and attributes of a folder come last, because putting entries into it moves its times. */
  finishFolder(path: RelativePath, entry: TreeEntry | undefined): void {
    if (entry?.type !== "directory") return;
    const request = { path, asked: path, mayCreate: false };
    using folder = openUpperFolder(this.#stack, this.#spare, request);
    replaceAttributes(folder.upper, attributesOf(entry));
  }

  /** Folders that the copy was made with and that somebody removed meanwhile from the real tree. */
  #lostFolders(path: RelativePath, { type }: TreeEntry): RelativePath[] {
    const folders = [...ancestorsOf(path), ...(type === "directory" ? [path] : [])];
    return folders.filter(
      (folder) =>
        folder !== ROOT && this.#known.has(folder) && findNode(this.#stack, folder) === null,
    );
  }

  /** They had to be made anew, but are no new ones. */
  #noteLost(folders: readonly RelativePath[]): void {
    for (const path of folders) {
      const request = { path, asked: path, mayCreate: false };
      using folder = openUpperFolder(this.#stack, this.#spare, request);
      writeBaseMark(folder.upper, this.#stack.upper.dialect, pathMark(path));
    }
  }

  #file(path: RelativePath, entry: TreeEntry, spare: string): void {
    const first = entry.nlink > 1 ? this.#links.get(entry.ino.toString()) : undefined;
    if (first !== undefined) {
      using folder = openUpperFolder(this.#stack, this.#spare, {
        path: parentOf(first),
        asked: path,
        mayCreate: false,
      });
      linkAt(folder.upper, nameOf(first), this.#spare.fd, spare);
      return;
    }
    this.#links.set(entry.ino.toString(), path);
    const node = findNode(this.#stack, path);
    const fd = openFolder(this.#copyFd, parentOf(path));
    try {
      const options = { reflink: "auto", specialBits: true } as const;
      copyFileTo(fd, nameOf(path), this.#spare.fd, spare, options);
    } finally {
      close(fd);
    }
    const isLost = node === null && this.#known.has(path);
    if (node?.kind !== "leaf" && !isLost) return;
    const copyFd = openAt(this.#spare.fd, spare, OPEN.readOnly | OPEN.noFollow);
    try {
      if (node?.kind === "leaf") {
        // The copy had no special bits to begin with: the file keeps those that the view has.
        const { mode, type } = readNode(this.#stack, node);
        const known = this.#known.get(path);
        const copied = { ino: known === undefined ? 0n : BigInt(known[1]), mode };
        const isOld = type === "file" && keepsSpecialBits(entry, copied);
        markCopy(this.#stack, copyFd, path, isOld ? mode & SPECIAL_BITS : 0);
      } else {
        // Somebody removed the real file meanwhile: this is no new one.
        writeBaseMark(copyFd, this.#stack.upper.dialect, pathMark(path));
      }
    } finally {
      close(copyFd);
    }
  }
}
