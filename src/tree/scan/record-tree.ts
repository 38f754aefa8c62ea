import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { ROOT, joinPath } from "../../model/byte-path.ts";
import { DirectoryScanner, MODE, StatBuffer, readlinkAt } from "../../platform/native/index.ts";
import { FIELD, FLAG } from "./manifest.ts";
import { ManifestBuilder } from "./manifest-builder.ts";
import { withFolder, withRoot } from "./open-directory.ts";
import type { TouchedPaths } from "./touched-paths.ts";
import { type FolderReading, visitNames } from "./visit-names.ts";

/** A tree whose present state is to be recorded. */
export interface RecordRequest {
  readonly root: BytePath;
  readonly only: BytePath | null;
  readonly exclude: readonly RelativePath[];
  /** What alone is to be recorded; everything unless given. */
  readonly within?: TouchedPaths;
}

interface Folder {
  readonly record: number;
  readonly path: RelativePath;
  /** The names in it that are recorded; null for all. */
  readonly names: ReadonlySet<string> | null;
}

/** The manifest of a tree as it is, for a later comparison with itself. Reads no content. */
export function recordTree(request: RecordRequest): Uint8Array {
  return withRoot(request.root, (rootFd) => new Recording(request, rootFd).run());
}

class Recording {
  readonly #request: RecordRequest;
  readonly #rootFd: number;
  readonly #builder = new ManifestBuilder();
  readonly #stat = new StatBuffer();
  readonly #reading: FolderReading = { scanner: new DirectoryScanner(), stat: this.#stat };
  #mountId = 0;

  constructor(request: RecordRequest, rootFd: number) {
    this.#request = request;
    this.#rootFd = rootFd;
  }

  run(): Uint8Array {
    this.#stat.readFd(this.#rootFd);
    this.#mountId = this.#stat.mountId;
    const record = this.#builder.add(0, "", this.#stat);
    const names = this.#request.within?.namesIn(ROOT) ?? null;
    const pending: Folder[] = [{ record, path: ROOT, names }];
    for (let at = 0; at < pending.length; at++) pending.push(...this.#folder(pending[at]!));
    return this.#builder.finishAsOwnCopy().toBytes();
  }

  #folder(folder: Folder): Folder[] {
    const folders: Folder[] = [];
    const start = this.#builder.count;
    withFolder(this.#rootFd, folder.path, (fd) => {
      visitNames(this.#reading, fd, folder.names, (name) => {
        const path = joinPath(folder.path, name);
        if (this.#isOutside(path)) return;
        const record = this.#builder.add(folder.record, name, this.#stat);
        const type = this.#stat.mode & MODE.typeMask;
        if (type === MODE.symlink) this.#builder.setTarget(record, readlinkAt(fd, name));
        const isKnown = type === MODE.file || type === MODE.directory || type === MODE.symlink;
        if (!isKnown || this.#stat.mountId !== this.#mountId)
          this.#builder.set(record, FIELD.flags, FLAG.skipped);
        else if (type === MODE.directory)
          folders.push({ record, path, names: this.#namesBelow(path, folder) });
        // Somebody says that it was touched: its times need not tell.
        else if (this.#request.within !== undefined)
          this.#builder.set(record, FIELD.flags, FLAG.dirty);
      });
    });
    this.#builder.set(folder.record, FIELD.childStart, start);
    this.#builder.set(folder.record, FIELD.childCount, this.#builder.count - start);
    return folders;
  }

  #namesBelow(path: RelativePath, { names }: Folder): Folder["names"] {
    return names === null ? null : (this.#request.within?.namesIn(path) ?? null);
  }

  #isOutside(path: RelativePath): boolean {
    const { only, exclude } = this.#request;
    return (only !== null && path !== (only as string)) || exclude.includes(path);
  }
}
