import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import {
  MODE,
  StatBuffer,
  close,
  linkAt,
  symlinkAt,
  throwUnlessErrno,
} from "../../platform/native/index.ts";
import { copyFileTo } from "../copy-entry.ts";
import { setLinkAttributes } from "../entry-attributes.ts";
import { readEntry } from "../read-entry.ts";
import { FIELD, FLAG, Manifest } from "./manifest.ts";
import { openFolder, openRoot, withFolder } from "./open-directory.ts";
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
  /** An earlier copy, in which the files that the manifest says are known lie under the same paths. */
  readonly earlier: BytePath | null;
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
  const roots = [part.source, part.target, part.earlier].map((path) =>
    path === null ? NONE : openRoot(path),
  );
  try {
    return new CopyRun(part, roots as [number, number, number]).run();
  } finally {
    for (const fd of roots) if (fd !== NONE) close(fd);
  }
}

/** Stands for a descriptor of something that is not there. */
const NONE = -1;

/** One folder on all sides. */
interface OpenFolders {
  readonly sourceFd: number;
  readonly targetFd: number;
  readonly earlierFd: number;
}

class CopyRun {
  readonly #part: CopyPart;
  readonly #manifest: Manifest;
  readonly #roots: readonly [source: number, target: number, earlier: number];
  readonly #stat = new StatBuffer();
  readonly #result = { reflinked: 0, copied: 0, ownersLost: 0, xattrsLost: 0 };

  constructor(part: CopyPart, roots: readonly [number, number, number]) {
    this.#part = part;
    this.#manifest = openShared(part.manifest);
    this.#roots = roots;
  }

  run(): CopyPartResult {
    const { control, folders } = this.#part;
    while (Atomics.load(control, CONTROL.stop) === 0) {
      const folder = folders[Atomics.add(control, CONTROL.next, 1)];
      if (folder === undefined) break;
      this.#folder(folder);
    }
    return this.#result;
  }

  #folder(folder: number): void {
    const path = this.#manifest.path(folder);
    const [source, target, earlier] = this.#roots;
    const earlierFd = earlier === NONE ? NONE : openIfThere(earlier, path);
    try {
      withFolder(source, path, (sourceFd) =>
        withFolder(target, path, (targetFd) => {
          const folders = { sourceFd, targetFd, earlierFd };
          for (const record of this.#manifest.children(folder)) this.#entry(record, folders);
        }),
      );
    } finally {
      if (earlierFd !== NONE) close(earlierFd);
    }
  }

  #entry(record: number, folders: OpenFolders): void {
    const manifest = this.#manifest;
    const type = manifest.get(record, FIELD.mode) & MODE.typeMask;
    const isFurtherName = manifest.get(record, FIELD.group) !== 0;
    if (type === MODE.directory || isFurtherName || manifest.has(record, FLAG.skipped)) return;
    const name = manifest.name(record);
    const isLinked = manifest.has(record, FLAG.known) && linkKnown(name, folders);
    if (!isLinked) {
      if (type === MODE.symlink) this.#link(record, name, folders);
      else this.#file(name, folders);
    }
    this.#stat.readAt(folders.targetFd, name);
    manifest.setCopy(record, this.#stat);
  }

  #link(record: number, name: string, { sourceFd, targetFd }: OpenFolders): void {
    const entry = readEntry(sourceFd, name);
    symlinkAt(this.#manifest.target(record)!, targetFd, name);
    const lost = setLinkAttributes(targetFd, name, { ...entry, atimeNs: null });
    if (lost.owner) this.#result.ownersLost++;
  }

  #file(name: string, { sourceFd, targetFd }: OpenFolders): void {
    const { reflink } = this.#part;
    const { method, lost } = copyFileTo(sourceFd, name, targetFd, name, { reflink });
    if (method === "reflink") this.#result.reflinked++;
    else this.#result.copied++;
    if (lost.owner) this.#result.ownersLost++;
    this.#result.xattrsLost += lost.xattrs.length;
  }
}

function openIfThere(rootFd: number, path: RelativePath): number {
  try {
    return openFolder(rootFd, path);
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP");
    return NONE;
  }
}

/** False when the file has to be copied after all. The earlier copy is private and never written to. */
function linkKnown(name: string, { targetFd, earlierFd }: OpenFolders): boolean {
  if (earlierFd === NONE) return false;
  try {
    linkAt(earlierFd, name, targetFd, name);
    return true;
  } catch (error) {
    // A file can have only so many names, and only its owner may give it one.
    throwUnlessErrno(error, "EMLINK", "EPERM", "ENOENT", "EXDEV");
    return false;
  }
}
