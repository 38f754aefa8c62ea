import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { joinPath } from "../../model/byte-path.ts";
import type { SkippedEntry } from "../../model/change.ts";
import {
  DirectoryScanner,
  MODE,
  StatBuffer,
  mkdirAt,
  readlinkAt,
} from "../../platform/native/index.ts";
import { skippedEntry } from "../public-path.ts";
import type { Identity } from "../tree-entry.ts";
import { FIELD, FLAG, Manifest } from "./manifest.ts";
import { ManifestBuilder } from "./manifest-builder.ts";
import { withFolder, withRoot } from "./open-directory.ts";

/** A tree that is to be copied; both paths are absolute, the target exists and is empty. */
export interface CopyRequest {
  readonly source: BytePath;
  readonly target: BytePath;
  /** Copy only this name of the source. */
  readonly only: BytePath | null;
  /** Left out, with everything below. */
  readonly exclude: readonly RelativePath[];
  /** What the source was when an earlier copy of it was made. */
  readonly earlier: EarlierState | null;
}

/** A source as it was when it was copied before: files that are the same still need no second copy. */
export interface EarlierState {
  /** `Manifest.toBytes`: entries that are as recorded there were so at that time too, unless listed. */
  readonly manifest: Uint8Array;
  /** Files that differed from the manifest then: what they were, or null when that cannot be told for sure. */
  readonly listed: ReadonlyMap<RelativePath, Identity | null>;
}

/** What a walk over the source found; the manifest's memory can be shared between threads. */
export interface CopyPlan {
  readonly manifest: SharedManifest;
  readonly skipped: readonly SkippedEntry[];
  /** Bytes of content in whole blocks, a hard-linked file counted once, known files not at all. */
  readonly bytes: number;
}

/** A manifest as it travels between threads. */
export interface SharedManifest {
  readonly words: Uint32Array;
  readonly names: Uint8Array;
  readonly count: number;
}

/** What a file takes at least, on every file system that we know. */
const BLOCK_BYTES = 4096;

interface Folder {
  readonly record: number;
  readonly path: RelativePath;
}

/** Walks the source once, makes its folders in the target (mode 0700 for now) and records every entry. */
export function planCopy(request: CopyRequest): CopyPlan {
  return withRoot(request.source, (sourceFd) =>
    withRoot(request.target, (targetFd) => new Planner(request, sourceFd, targetFd).run()),
  );
}

class Planner {
  readonly #builder = new ManifestBuilder();
  readonly #stat = new StatBuffer();
  readonly #scanner = new DirectoryScanner();
  readonly #skipped: SkippedEntry[] = [];
  readonly #groups = new Map<number, number>();
  readonly #request: CopyRequest;
  readonly #sourceFd: number;
  readonly #targetFd: number;
  readonly #earlier: Manifest | null;
  #mountId = 0;
  #bytes = 0;

  constructor(request: CopyRequest, sourceFd: number, targetFd: number) {
    this.#request = request;
    const { earlier } = request;
    this.#earlier = earlier && Manifest.fromBytes(Buffer.from(earlier.manifest));
    this.#sourceFd = sourceFd;
    this.#targetFd = targetFd;
  }

  run(): CopyPlan {
    this.#stat.readFd(this.#sourceFd);
    this.#mountId = this.#stat.mountId;
    const pending: Folder[] = [
      { record: this.#builder.add(0, "", this.#stat), path: "" as RelativePath },
    ];
    for (let at = 0; at < pending.length; at++) pending.push(...this.#folder(pending[at]!));
    const manifest: Manifest = this.#builder.finish();
    return {
      manifest: { words: manifest.words, names: manifest.names, count: manifest.count },
      skipped: this.#skipped,
      bytes: this.#bytes,
    };
  }

  #folder({ record, path }: Folder): Folder[] {
    const folders: Folder[] = [];
    const start = this.#builder.count;
    withFolder(this.#sourceFd, path, (fd) => {
      this.#scanner.open(fd);
      while (this.#scanner.next()) {
        const { name } = this.#scanner;
        if (this.#isLeftOut(path, name) || !this.#scanner.stat(this.#stat)) continue;
        const child = this.#entry(record, path, name, fd);
        if (child !== null) folders.push(child);
      }
    });
    this.#builder.set(record, FIELD.childStart, start);
    this.#builder.set(record, FIELD.childCount, this.#builder.count - start);
    if (folders.length > 0) {
      withFolder(this.#targetFd, path, (fd) => {
        for (const folder of folders)
          mkdirAt(fd, folder.path.slice(folder.path.lastIndexOf("/") + 1), 0o700);
      });
    }
    return folders;
  }

  #isLeftOut(path: RelativePath, name: string): boolean {
    const { only, exclude } = this.#request;
    if (path === "" && only !== null && name !== only) return true;
    return exclude.length > 0 && exclude.includes(joinPath(path, name));
  }

  #entry(parent: number, path: RelativePath, name: string, fd: number): Folder | null {
    const stat = this.#stat;
    const record = this.#builder.add(parent, name, stat);
    const isOtherMount = stat.mountId !== this.#mountId;
    switch (stat.mode & MODE.typeMask) {
      case MODE.directory:
        if (isOtherMount) return this.#skip(record, path, name, "otherMount");
        return { record, path: joinPath(path, name) };
      case MODE.symlink:
        this.#builder.setTarget(record, readlinkAt(fd, name));
        return null;
      case MODE.file:
        if (isOtherMount) return this.#skip(record, path, name, "otherMount");
        this.#file(record, joinPath(path, name));
        return null;
      case MODE.fifo:
        return this.#skip(record, path, name, "fifo");
      case MODE.socket:
        return this.#skip(record, path, name, "socket");
      default:
        return this.#skip(record, path, name, "device");
    }
  }

  #file(record: number, path: RelativePath): void {
    if (this.#stat.nlink > 1) {
      const first = this.#groups.get(this.#stat.inoNumber);
      if (first !== undefined) {
        this.#builder.set(record, FIELD.group, first + 1);
        return;
      }
      this.#groups.set(this.#stat.inoNumber, record);
    }
    if (this.#isKnown(path)) {
      this.#builder.set(record, FIELD.flags, FLAG.known);
      return;
    }
    const content = Math.min(this.#stat.sizeNumber, this.#stat.blocks * 512);
    this.#bytes += Math.ceil(content / BLOCK_BYTES) * BLOCK_BYTES;
  }

  /** Whether the file is the one that an earlier copy was made from, untouched since. */
  #isKnown(path: RelativePath): boolean {
    const { earlier } = this.#request;
    if (earlier === null || this.#earlier === null) return false;
    const stat = this.#stat;
    const listed = earlier.listed.get(path);
    if (listed === undefined) {
      const record = this.#earlier.find(path);
      return record >= 0 && this.#earlier.isSameCopy(record, stat);
    }
    return (
      listed !== null &&
      listed.ino === stat.ino &&
      listed.size === stat.sizeNumber &&
      listed.mtimeNs === stat.mtimeNs &&
      listed.ctimeNs === stat.ctimeNs
    );
  }

  #skip(record: number, path: RelativePath, name: string, reason: SkippedEntry["reason"]): null {
    this.#builder.set(record, FIELD.flags, FLAG.skipped);
    this.#skipped.push(skippedEntry(joinPath(path, name), reason));
    return null;
  }
}
