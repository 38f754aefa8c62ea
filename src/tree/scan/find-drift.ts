import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { joinPath } from "../../model/byte-path.ts";
import { compareText } from "../../model/compare-text.ts";
import type { DriftEntry } from "../../model/diff-view.ts";
import { DirectoryScanner, MODE, StatBuffer } from "../../platform/native/index.ts";
import { publicPath } from "../public-path.ts";
import { FIELD, FLAG, Manifest } from "./manifest.ts";
import { withFolder, withRoot } from "./open-directory.ts";

/** A real tree to be searched for what others changed. */
export interface DriftRequest {
  readonly root: BytePath;
  readonly only: BytePath | null;
  readonly exclude: readonly RelativePath[];
  /** Paths that the sandbox itself touches: they are conflicts, not drift. */
  readonly touched: readonly RelativePath[];
  /** What the base was: a manifest, or the moment of creation. */
  readonly base: { readonly manifest: Uint8Array } | { readonly sinceNs: bigint };
}

/**
 * Walks the whole real tree and lists what changed since the sandbox was made. Times of folders alone are no drift.
 * With only a moment to go by, removed entries cannot be told.
 */
export function findDrift(request: DriftRequest): DriftEntry[] {
  const judge =
    "manifest" in request.base ? byManifest(request.base.manifest) : byTime(request.base.sinceNs);
  return withRoot(request.root, (rootFd) => new DriftWalk(request, judge, rootFd).run());
}

interface Judge {
  /** `record` is what the parent's `child` gave; -1 when unknown. */
  judge(record: number, stat: StatBuffer): DriftEntry["reason"] | null;
  children(record: number): Map<string, number>;
}

class DriftWalk {
  readonly #request: DriftRequest;
  readonly #judge: Judge;
  readonly #rootFd: number;
  readonly #touched: ReadonlySet<RelativePath>;
  readonly #scanner = new DirectoryScanner();
  readonly #stat = new StatBuffer();
  readonly #found: DriftEntry[] = [];
  #mountId = 0;

  constructor(request: DriftRequest, judge: Judge, rootFd: number) {
    this.#request = request;
    this.#judge = judge;
    this.#rootFd = rootFd;
    this.#touched = new Set(request.touched);
  }

  run(): DriftEntry[] {
    this.#stat.readFd(this.#rootFd);
    this.#mountId = this.#stat.mountId;
    const pending: { path: RelativePath; record: number }[] = [
      { path: "" as RelativePath, record: 0 },
    ];
    for (let at = 0; at < pending.length; at++) {
      const { path, record } = pending[at]!;
      this.#folder(path, record, (child) => pending.push(child));
    }
    return this.#found.sort((a, b) => compareText(a.path, b.path));
  }

  #folder(
    folder: RelativePath,
    record: number,
    enter: (child: { path: RelativePath; record: number }) => void,
  ): void {
    const known = this.#judge.children(record);
    withFolder(this.#rootFd, folder, (fd) => {
      this.#scanner.open(fd);
      while (this.#scanner.next()) {
        const { name } = this.#scanner;
        const path = joinPath(folder, name);
        const child = known.get(name) ?? -1;
        known.delete(name);
        if (this.#isOutside(path) || !this.#scanner.stat(this.#stat)) continue;
        const reason = this.#judge.judge(child, this.#stat);
        if (reason !== null) this.#add(path, reason);
        const isFolder = (this.#stat.mode & MODE.typeMask) === MODE.directory;
        if (isFolder && this.#stat.mountId === this.#mountId) enter({ path, record: child });
      }
    });
    for (const name of known.keys()) this.#add(joinPath(folder, name), "missing");
  }

  #add(path: RelativePath, reason: DriftEntry["reason"]): void {
    if (!this.#touched.has(path)) this.#found.push({ ...publicPath(path), reason });
  }

  #isOutside(path: RelativePath): boolean {
    const { only, exclude } = this.#request;
    return (only !== null && path !== only) || exclude.includes(path);
  }
}

function byManifest(bytes: Uint8Array): Judge {
  const manifest = Manifest.fromBytes(Buffer.from(bytes));
  if (manifest === null) throw new Error("the manifest of the workspace is damaged");
  return {
    judge: (record, stat) => {
      if (record < 0) return "new";
      if (manifest.has(record, FLAG.skipped)) return null;
      const isFolder = (stat.mode & MODE.typeMask) === MODE.directory;
      const isSame =
        stat.mode === manifest.get(record, FIELD.mode) &&
        stat.inoNumber === manifest.wide(record, FIELD.baseIno) &&
        (isFolder || stat.ctimeNs === manifest.timeNs(record, FIELD.baseCtime));
      return isSame ? null : "changed";
    },
    children: (record) => {
      const children = new Map<string, number>();
      if (record < 0) return children;
      for (const child of manifest.children(record)) children.set(manifest.name(child), child);
      return children;
    },
  };
}

function byTime(sinceNs: bigint): Judge {
  return {
    judge: (_record, stat) => {
      if (stat.ctimeNs <= sinceNs) return null;
      const bornNs = stat.btimeNs;
      if (bornNs !== null && bornNs > sinceNs) return "new";
      // A folder's ctime moves with every name in it; only a change of its own attributes leaves mtime behind.
      const isFolder = (stat.mode & MODE.typeMask) === MODE.directory;
      return isFolder && stat.mtimeNs === stat.ctimeNs ? null : "changed";
    },
    children: () => new Map(),
  };
}
