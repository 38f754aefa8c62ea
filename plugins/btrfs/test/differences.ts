import { execFileSync } from "node:child_process";

interface Listed {
  readonly isFolder: boolean;
  readonly inode: string;
  /** All that `find` and `sha256sum` tell about it. */
  readonly state: string;
}

type Listing = ReadonlyMap<string, Listed>;

const FIELDS = ["%P", "%y", "%i", "%m %U:%G %s %n %T@ %C@ %l"].map((field) => `${field}\\0`);

/** Two snapshots, compared path by path with programs that are not ours. Paths are latin1 texts. */
export class Differences {
  readonly #base: Listing;
  readonly #now: Listing;

  constructor(base: string, now: string) {
    this.#base = listingOf(base);
    this.#now = listingOf(now);
  }

  /** Every path whose entry is there on one side only, or is not the same on both. */
  paths(): string[] {
    const all = new Set([...this.#base.keys(), ...this.#now.keys()]);
    return [...all].filter((path) => this.#base.get(path)?.state !== this.#now.get(path)?.state);
  }

  /** Those that should be among the given ones and are not. */
  missingIn(given: ReadonlySet<string>): string[] {
    const [wasMoved, isMoved] = [moved(this.#base, this.#now), moved(this.#now, this.#base)];
    const inodes = new Set([...given].map((path) => this.#now.get(path)?.inode));
    return this.paths().filter((path) => {
      if (given.has(path)) return false;
      if (foldersAbove(path).some((folder) => wasMoved.has(folder) || isMoved.has(folder))) {
        return false;
      }
      // Of a file that is the same one as before, one of its names is enough.
      const [before, after] = [this.#base.get(path), this.#now.get(path)];
      const isSameFile = after?.isFolder === false && before?.inode === after.inode;
      return !(isSameFile && inodes.has(after.inode));
    });
  }
}

/** Folders of one side that the other side has, but at another path. */
function moved(side: Listing, other: Listing): Set<string> {
  const places = new Map<string, string>();
  for (const [path, { isFolder, inode }] of other) if (isFolder) places.set(inode, path);
  const found = new Set<string>();
  for (const [path, { isFolder, inode }] of side) {
    if (isFolder && (places.get(inode) ?? path) !== path) found.add(path);
  }
  return found;
}

function foldersAbove(path: string): string[] {
  const names = path.split("/");
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join("/"));
}

function listingOf(root: string): Listing {
  const sums = new Map<string, string>();
  const hashed = print(root, ["-type", "f", "-exec", "sha256sum", "-z", "{}", "+"]);
  for (const line of hashed) sums.set(line.slice(line.indexOf(" ") + "  ./".length), line);
  const listing = new Map<string, Listed>();
  const fields = print(root, ["-printf", FIELDS.join("")]);
  for (let at = 0; at < fields.length; at += FIELDS.length) {
    const [path = "", type = "", inode = "", rest = ""] = fields.slice(at, at + FIELDS.length);
    const state = [type, inode, rest, sums.get(path)].join(" ");
    listing.set(path, { isFolder: type === "d", inode, state });
  }
  return listing;
}

/** What `find` prints in a folder, cut at each zero byte. */
function print(root: string, args: readonly string[]): string[] {
  const options = { cwd: root, encoding: "latin1", maxBuffer: 1024 ** 3 } as const;
  return execFileSync("find", [".", ...args], options)
    .split("\0")
    .slice(0, -1);
}
