import {
  type BytePath,
  ROOT,
  type RelativePath,
  isWithin,
  joinPath,
  nameOf,
  parentOf,
} from "../model/byte-path.ts";
import { isErrno, readlinkAt, statAt, throwUnlessErrno } from "../platform/native/index.ts";
import { entryType } from "./read-entry.ts";
import { withFolder, withRoot } from "./scan/open-directory.ts";
import type { TreeChange } from "./tree-change.ts";
import type { TreeEntry } from "./tree-entry.ts";

/** As many links as the kernel follows for one path; behind more of them nobody gets anywhere. */
const MAX_LINKS = 40;

type Found = Pick<TreeEntry, "type" | "target">;

/** What nobody may look at counts as a way out. */
const UNKNOWN: Found = { type: "symlink", target: "/" as BytePath };

/**
 * Tells of links whether they lead out of the tree, as the tree will be once the changes are published: a link through
 * another link goes where that one goes. Links are read, never followed by the kernel.
 */
export class OutwardLinks {
  readonly #root: BytePath;
  readonly #changes: readonly TreeChange[];
  #byPath: ReadonlyMap<RelativePath, TreeChange> | null = null;

  /** `root` is the absolute path of the real tree. */
  constructor(root: BytePath, changes: readonly TreeChange[]) {
    this.#root = root;
    this.#changes = changes;
  }

  /** Whether the change leaves a link that leads outside. */
  has({ path, after }: TreeChange): boolean {
    if (after?.type !== "symlink" || after.target === null) return false;
    let at: RelativePath | null = parentOf(path);
    let todo = partsOf(after.target);
    if (after.target.startsWith("/")) [at, todo] = this.#fromTop(todo);
    for (let links = 0; at !== null;) {
      const part = todo.shift();
      if (part === undefined) return false;
      if (part === "..") {
        at = at === ROOT ? null : parentOf(at);
        continue;
      }
      const next: RelativePath = joinPath(at, part);
      const found = this.#find(next);
      if (found?.type === "directory") {
        at = next;
        continue;
      }
      // Leads nowhere today; with a way up again nobody can say where it will lead.
      if (found === null || found.target === null) return todo.includes("..");
      if (++links > MAX_LINKS) return false;
      todo = [...partsOf(found.target), ...todo];
      if (found.target.startsWith("/")) [at, todo] = this.#fromTop(todo);
    }
    return true;
  }

  /** Where an absolute path goes on inside the tree; null when it does not lead there. */
  #fromTop(parts: readonly string[]): [RelativePath | null, string[]] {
    const top = partsOf(this.#root);
    const isInside = isWithin(`/${parts.slice(0, top.length).join("/")}` as BytePath, this.#root);
    return isInside ? [ROOT, parts.slice(top.length)] : [null, []];
  }

  #find(path: RelativePath): Found | null {
    this.#byPath ??= new Map(this.#changes.map((change) => [change.path, change]));
    const own = this.#byPath.get(path);
    if (own !== undefined) return own.after;
    const above = this.#byPath.get(parentOf(path));
    // Everything in a folder that the sandbox made is among the changes.
    if (above !== undefined && above.before?.type !== above.after?.type) return null;
    return findReal(this.#root, path);
  }
}

function partsOf(path: BytePath): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}

function findReal(root: BytePath, path: RelativePath): Found | null {
  const name = nameOf(path);
  try {
    return withRoot(root, (rootFd) =>
      withFolder(rootFd, parentOf(path), (fd) => {
        const type = entryType(statAt(fd, name).type);
        return { type, target: type === "symlink" ? (readlinkAt(fd, name) as BytePath) : null };
      }),
    );
  } catch (error) {
    if (isErrno(error, "EACCES", "EXDEV")) return UNKNOWN;
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "ENAMETOOLONG");
    return null;
  }
}
