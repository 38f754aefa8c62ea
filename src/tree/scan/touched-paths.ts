import { type RelativePath, ROOT, nameOf, parentOf } from "../../model/byte-path.ts";

const NOTHING: ReadonlySet<string> = new Set();

/** The paths at which two trees may differ, with the folders above them, and folders in which everything may. */
export class TouchedPaths {
  readonly #names = new Map<RelativePath, Set<string>>();
  readonly #whole = new Set<RelativePath>();

  /** Something may differ at this path. */
  add(path: RelativePath): void {
    for (let at = path; at !== ROOT; at = parentOf(at)) {
      const folder = parentOf(at);
      const names = this.#names.get(folder);
      if (names?.has(nameOf(at)) === true) return;
      if (names === undefined) this.#names.set(folder, new Set([nameOf(at)]));
      else names.add(nameOf(at));
    }
  }

  /** Everything below this path may differ. */
  addWhole(path: RelativePath): void {
    this.add(path);
    this.#whole.add(path);
  }

  /** Whether everything below may differ; asked of the folder that was named alone, not of those in it. */
  isWhole(path: RelativePath): boolean {
    return this.#whole.has(path);
  }

  /** The names in a folder that may differ; null when all may. */
  namesIn(folder: RelativePath): ReadonlySet<string> | null {
    return this.#whole.has(folder) ? null : (this.#names.get(folder) ?? NOTHING);
  }
}
