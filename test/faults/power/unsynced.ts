import { posix } from "node:path";
import type { FaultPoint } from "../../support/faults.ts";

/** What is known about paths. */
export interface PathRules {
  /** Tells the file systems apart. */
  readonly deviceOf: (path: string) => string;
  /** Whether anybody misses a file, or the names in a folder, when they are lost. */
  readonly isNeeded: (path: string) => boolean;
  /** Whether it matters that something is found under this name. */
  readonly isLasting: (path: string) => boolean;
}

/** What is not sure to be on disk yet, by the calls alone: a file system may be kinder, and keep more. */
export class Unsynced {
  readonly #paths = new Set<string>();
  readonly #rules: PathRules;

  constructor(rules: PathRules) {
    this.#rules = rules;
  }

  /** Files whose content, and folders whose names, could be lost. */
  get paths(): readonly string[] {
    return [...this.#paths].toSorted();
  }

  /** Takes a call into account. */
  meet({ call, paths: [first = "", second = ""], creates }: FaultPoint): void {
    if (/^(fsync|fdatasync)$/.test(call)) this.#paths.delete(first);
    else if (call === "syncfs") this.#settle(first);
    else if (/^(unlink|rmdir)/.test(call)) this.#remove(first);
    else if (call.startsWith("rename")) this.#move(first, second);
    else if (call.startsWith("link")) this.#name(second);
    else if (/^(mkdir|mknod|symlink)/.test(call)) this.#name(first);
    else if (creates) this.#make(first);
    else if (!/^(open|flock|mount|umount|move_mount)/.test(call)) this.#add(first);
  }

  #settle(path: string): void {
    const { deviceOf } = this.#rules;
    const settled = [...this.#paths].filter((one) => deviceOf(one) === deviceOf(path));
    for (const one of settled) this.#paths.delete(one);
  }

  #make(path: string): void {
    this.#add(path);
    this.#name(path);
  }

  #name(path: string): void {
    if (this.#rules.isLasting(path)) this.#add(posix.dirname(path));
  }

  #add(path: string): void {
    if (this.#rules.isNeeded(path)) this.#paths.add(path);
  }

  #remove(path: string): void {
    this.#take(path);
    this.#name(path);
  }

  /** Both ways, since a rename may be an exchange. */
  #move(from: string, to: string): void {
    const [there, back] = [this.#take(from), this.#take(to)];
    for (const rest of there) this.#add(to + rest);
    for (const rest of back) this.#add(from + rest);
    this.#name(from);
    this.#name(to);
  }

  /** Forgets a path and all below it; gives what was open, relative to it. */
  #take(path: string): readonly string[] {
    const own = [...this.#paths].filter((one) => one === path || one.startsWith(`${path}/`));
    for (const one of own) this.#paths.delete(one);
    return own.map((one) => one.slice(path.length));
  }
}
