import { copyFileSync, existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import type { MoveRequest } from "./move-request.ts";
import type { LinkedWorktree } from "./worktree.ts";

/** A folder, and where a command sees it, read only. */
export interface ShownElsewhere {
  readonly folder: string;
  readonly at: string;
}

/** Places that the settings of a repository name, though its worktree hides them, and where a command sees them instead. */
export class HiddenPlaces {
  readonly #request: MoveRequest;
  readonly #repository: string;
  readonly #index: number;
  readonly #shown = new Map<string, ShownElsewhere>();

  constructor(request: MoveRequest, { repository }: LinkedWorktree, index: number) {
    this.#request = request;
    this.#repository = repository;
    this.#index = index;
  }

  /** What has to be shown for the answers that were given. */
  get shown(): readonly ShownElsewhere[] {
    return [...this.#shown.values()];
  }

  /** Whether there is something that a command does not find by its path. */
  isHidden(path: string): boolean {
    const real = realPath(path);
    return real !== null && (this.#isCovered(path) || this.#isCovered(real));
  }

  /** Where a command finds what is hidden from it; null where it is not, or where nobody may see it. */
  seenAt(path: string): string | null {
    if (!this.isHidden(path)) return null;
    const real = realpathSync(path);
    const { state, masked } = this.#request;
    // What lies around them would be shown with them in it.
    const isOurs = (folder: string): boolean => isWithin(real, folder) || isWithin(folder, real);
    if ([state, ...masked].some(isOurs)) return null;
    if (!this.#isCovered(real)) return real;
    if (isWithin(real, this.#repository))
      return join(this.#place("git"), relative(this.#repository, real));
    return this.#show(real);
  }

  #show(real: string): string | null {
    const number = this.#shown.size;
    const found = statSync(real);
    const at = this.#shown.get(real)?.at ?? this.#place("hidden", number);
    if (found.isDirectory()) {
      this.#shown.set(real, { folder: real, at });
      return at;
    }
    if (!found.isFile()) return null;
    const name = basename(real);
    if (!this.#shown.has(real)) {
      // The folder around it may be all of the checkout.
      const folder = join(this.#request.folder, basename(at));
      mkdirSync(folder, { recursive: true });
      try {
        copyFileSync(real, join(folder, name));
      } catch (error) {
        // Git inside could not read it either.
        throwUnlessErrno(error, "EACCES", "EPERM", "ENOENT");
        return null;
      }
      this.#shown.set(real, { folder, at });
    }
    return join(at, name);
  }

  /** Whether the sandbox that is shown there has nothing of that name. */
  #isCovered(path: string): boolean {
    const [around] = this.#request.sandboxes
      .filter(({ location }) => isWithin(path, location))
      .toSorted((a, b) => b.location.length - a.location.length);
    if (around === undefined || !("workspace" in around)) return false;
    return !existsSync(join(around.workspace, relative(around.location, path)));
  }

  #place(name: string, number?: number): string {
    return placeInView(this.#request, [name, this.#index, number]);
  }
}

/** Where a command sees something of a repository that has no place of its own. */
export function placeInView(
  { outside, state, folder }: MoveRequest,
  name: readonly (string | number | undefined)[],
): string {
  const words = name.filter((word) => word !== undefined);
  return join(outside === "allow" ? folder : state, words.join("-"));
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    // There is nothing, or it is closed to us, as to the command.
    return null;
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
