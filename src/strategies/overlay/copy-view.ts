import { readFileSync, writeFileSync } from "node:fs";
import {
  type BytePath,
  type RelativePath,
  ROOT,
  joinPath,
  pathBytes,
} from "../../model/byte-path.ts";
import { compareText } from "../../model/compare-text.ts";
import { close, mkdirAt, readDirectory } from "../../platform/native/index.ts";
import { takeBaseTime } from "../../tree/base-time.ts";
import { readEntry } from "../../tree/read-entry.ts";
import { removeTree } from "../../tree/remove-tree.ts";
import { openFolder, withRoot } from "../../tree/scan/open-directory.ts";
import type { TreeEntry } from "../../tree/tree-entry.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { copyNode } from "./copy-node.ts";
import type { LayerStack } from "./layer-stack.ts";
import { withFolder } from "./sandbox-files.ts";

const FOLDER = "v";
const TREE = "v/tree";
const MANIFEST = "v/manifest.json";

/** What tells whether an entry of the copy was touched since the copy was finished. */
export type Fingerprint = readonly [ctimeNs: string, ino: string, mode: number];

/** Everything in the copy by path, parents first. */
export type CopiedEntries = ReadonlyMap<RelativePath, TreeEntry>;

/** The directory of a copied view. */
export function copiedTree(place: SandboxPlace): BytePath {
  return joinPath(place.directory, TREE);
}

/** Writes the whole view out as an ordinary directory, for programs where no mount can be had. */
export async function makeCopiedView(place: SandboxPlace, stack: LayerStack): Promise<void> {
  await withFolder(place.directory, (fd) => {
    removeTree(fd, FOLDER);
    mkdirAt(fd, FOLDER, 0o700);
  });
  await withFolder(joinPath(place.directory, FOLDER), (fd) => {
    copyNode(stack, stack.rootNode, fd, "tree" as RelativePath, null);
  });
  rememberCopiedView(place, scanCopiedView(place));
}

/** Removes the copy. Idempotent. */
export async function removeCopiedView(place: SandboxPlace): Promise<void> {
  await withFolder(place.directory, (fd) => removeTree(fd, FOLDER));
}

/** Takes the present state of the copy for the one that the layers have. */
export function rememberCopiedView(place: SandboxPlace, entries: CopiedEntries): void {
  const lines = [...entries].map(([path, entry]) => [path, fingerprint(entry)] as const);
  writeFileSync(pathBytes(joinPath(place.directory, MANIFEST)), JSON.stringify(lines), {
    mode: 0o600,
  });
  // Every edit from now on has a later change time than anything recorded.
  takeBaseTime(place.directory);
}

/** Walks the copy. */
export function scanCopiedView(place: SandboxPlace): CopiedEntries {
  return withRoot(copiedTree(place), (rootFd) => {
    const found = new Map<RelativePath, TreeEntry>([[ROOT, readEntry(rootFd, ".")]]);
    const pending = [ROOT];
    for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
      const fd = openFolder(rootFd, folder);
      try {
        for (const { name } of readDirectory(fd)) {
          const path = joinPath(folder, name);
          const entry = readEntry(fd, name);
          found.set(path, entry);
          if (entry.type === "directory") pending.push(path);
        }
      } finally {
        close(fd);
      }
    }
    return new Map([...found].sort(([a], [b]) => compareText(a, b)));
  });
}

/** What changed in the copy since it was made or last folded back. */
export interface CopiedChanges {
  readonly entries: CopiedEntries;
  /** What the copy was made with. */
  readonly known: ReadonlyMap<RelativePath, Fingerprint>;
  /** New or touched paths, parents first. */
  readonly touched: readonly RelativePath[];
  /** Paths that are gone, parents first; nothing below another one of them is listed. */
  readonly removed: readonly RelativePath[];
}

/** Compares the copy with what was remembered of it. */
export function compareCopiedView(place: SandboxPlace): CopiedChanges {
  const file = pathBytes(joinPath(place.directory, MANIFEST));
  const lines = JSON.parse(readFileSync(file, "utf8")) as [RelativePath, Fingerprint][];
  const known = new Map(lines);
  const entries = scanCopiedView(place);
  const touched = [...entries].flatMap(([path, entry]) =>
    sameFingerprint(known.get(path), fingerprint(entry)) ? [] : [path],
  );
  const gone = new Set(lines.map(([path]) => path).filter((path) => !entries.has(path)));
  const removed = [...gone].filter((path) => !gone.has(parentFolder(path))).sort();
  return { entries, known, touched, removed };
}

function parentFolder(path: RelativePath): RelativePath {
  return path.slice(0, Math.max(0, path.lastIndexOf("/"))) as RelativePath;
}

function fingerprint({ ctimeNs, ino, mode }: TreeEntry): Fingerprint {
  return [ctimeNs.toString(), ino.toString(), mode];
}

function sameFingerprint(a: Fingerprint | undefined, b: Fingerprint): boolean {
  return a !== undefined && a.every((value, index) => value === b[index]);
}
