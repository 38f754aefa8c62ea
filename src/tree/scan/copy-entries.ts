import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { MODE, StatBuffer, symlinkAt } from "../../platform/native/index.ts";
import { copyFileTo } from "../copy-entry.ts";
import { setLinkAttributes } from "../entry-attributes.ts";
import { readEntry } from "../read-entry.ts";
import { FIELD, FLAG, Manifest } from "./manifest.ts";
import { withFolder, withRoot } from "./open-directory.ts";
import type { SharedManifest } from "./plan-copy.ts";

/** One thread's part of a copy. All parts share the manifest and the counter. */
export interface CopyPart {
  readonly source: BytePath;
  readonly target: BytePath;
  readonly manifest: SharedManifest;
  /** Number of the next folder to take, and a mark to stop early. */
  readonly control: Int32Array;
  /** Records of the folders, in any order. */
  readonly folders: Uint32Array;
  readonly reflink: "auto" | "never" | "always";
}

/** What one thread did. */
export interface CopyPartResult {
  readonly reflinked: number;
  readonly copied: number;
  readonly ownersLost: number;
  readonly xattrsLost: number;
}

/** Cells of `CopyPart.control`. */
export const CONTROL = { next: 0, stop: 1 } as const;

/** The manifest of another thread, over the same memory. */
export function openShared(shared: SharedManifest): Manifest {
  const { buffer, byteOffset, byteLength } = shared.names;
  return new Manifest(shared.words, Buffer.from(buffer, byteOffset, byteLength), shared.count);
}

/** Takes folders one by one until none is left, and copies the files and links in them. */
export function copyEntries(part: CopyPart): CopyPartResult {
  const manifest = openShared(part.manifest);
  const stat = new StatBuffer();
  const result = { reflinked: 0, copied: 0, ownersLost: 0, xattrsLost: 0 };
  const copyOne = (record: number, sourceFd: number, targetFd: number): void => {
    const name = manifest.name(record);
    if ((manifest.get(record, FIELD.mode) & MODE.typeMask) === MODE.symlink) {
      const entry = readEntry(sourceFd, name);
      symlinkAt(manifest.target(record) ?? "", targetFd, name);
      const lost = setLinkAttributes(targetFd, name, { ...entry, atimeNs: null });
      if (lost.owner) result.ownersLost++;
    } else {
      const { method, lost } = copyFileTo(sourceFd, name, targetFd, name, {
        reflink: part.reflink,
      });
      if (method === "reflink") result.reflinked++;
      else result.copied++;
      if (lost.owner) result.ownersLost++;
      result.xattrsLost += lost.xattrs.length;
    }
    stat.readAt(targetFd, name);
    manifest.setCopy(record, stat);
  };
  withRoot(part.source, (sourceRoot) => {
    withRoot(part.target, (targetRoot) => {
      for (;;) {
        if (Atomics.load(part.control, CONTROL.stop) !== 0) return;
        const folder = part.folders[Atomics.add(part.control, CONTROL.next, 1)];
        if (folder === undefined) return;
        copyFolder(manifest, folder, sourceRoot, targetRoot, copyOne);
      }
    });
  });
  return result;
}

function copyFolder(
  manifest: Manifest,
  folder: number,
  sourceRoot: number,
  targetRoot: number,
  copyOne: (record: number, sourceFd: number, targetFd: number) => void,
): void {
  const path: RelativePath = manifest.path(folder);
  withFolder(sourceRoot, path, (sourceFd) => {
    withFolder(targetRoot, path, (targetFd) => {
      for (const record of manifest.children(folder)) {
        const isFolder = (manifest.get(record, FIELD.mode) & MODE.typeMask) === MODE.directory;
        const isFurtherName = manifest.get(record, FIELD.group) !== 0;
        if (!isFolder && !isFurtherName && !manifest.has(record, FLAG.skipped)) {
          copyOne(record, sourceFd, targetFd);
        }
      }
    });
  });
}
