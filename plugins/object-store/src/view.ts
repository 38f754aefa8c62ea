import type { ListedEntry, SandboxPathError as PathError } from "cofferdam";
import { SandboxPathError } from "cofferdam";
import { isPlainKey } from "./location.ts";
import type { OpenSandbox } from "./open-sandbox.ts";
import type { Edits } from "./place.ts";

/** The bucket with the edits of a sandbox laid over it. */
export class View {
  readonly edits: Edits;
  readonly #sandbox: OpenSandbox;

  private constructor(sandbox: OpenSandbox, edits: Edits) {
    this.#sandbox = sandbox;
    this.edits = edits;
  }

  static async of(sandbox: OpenSandbox): Promise<View> {
    return new View(sandbox, await sandbox.place.edits());
  }

  /** The content of an object as the sandbox has it. */
  async read(key: string): Promise<Buffer> {
    const { bucket, place } = this.#sandbox;
    const edit = this.edits.get(key);
    if (edit?.mine) return place.content(edit.mine.hash);
    const found = edit === undefined ? await bucket.get(key) : null;
    if (found !== null) return found.content;
    throw (await this.isFolder(this.#pathOf(key)))
      ? this.problem(key, "directory", "is a folder")
      : this.problem(key, "missing", "is not there");
  }

  async hasObject(key: string): Promise<boolean> {
    const edit = this.edits.get(key);
    if (edit !== undefined) return edit.mine !== null;
    return (await this.#sandbox.bucket.head(key)) !== null;
  }

  /** Whether anything lies below a path. */
  async isFolder(path: string): Promise<boolean> {
    const { bucket, location } = this.#sandbox;
    const prefix = location.below(path);
    const edits = this.below(prefix);
    if (edits.some(([, { mine }]) => mine !== null)) return true;
    const pageSize = Math.min(1000, edits.length + 1);
    for await (const { keys } of bucket.list(prefix, false, pageSize)) {
      if (keys.some((key) => !this.edits.has(key))) return true;
    }
    return false;
  }

  /** The entries of a folder, sorted by name; keys that no path can name are left out. */
  async list(path: string): Promise<ListedEntry[]> {
    const { location } = this.#sandbox;
    const prefix = location.below(path);
    const types = await this.#realEntries(prefix);
    for (const [key, { mine }] of this.below(prefix)) {
      const [name = "", ...rest] = key.slice(prefix.length).split("/");
      if (mine !== null) types.set(name, rest.length === 0 ? "file" : "directory");
      else if (rest.length === 0) types.delete(name);
      else if (!(await this.isFolder(`${path === "" ? "" : `${path}/`}${name}`)))
        types.delete(name);
    }
    types.delete("");
    const isEmpty = types.size === 0 && path !== "";
    if (isEmpty && !(await this.isFolder(path))) throw await this.#noFolder(path);
    return [...types]
      .map(([name, type]) => ({ name, type }))
      .sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
  }

  /** Refuses a new object where a folder is, or below another object. */
  async requireRoom(key: string): Promise<void> {
    const path = this.#pathOf(key);
    const parts = path.split("/").slice(0, -1);
    const above = parts.map((_, at) => parts.slice(0, at + 1).join("/"));
    const [isFolder, ...taken] = await Promise.all([
      this.isFolder(path),
      ...above.map((folder) => this.hasObject(this.#sandbox.location.keyOf(folder))),
    ]);
    if (isFolder) throw this.problem(key, "directory", "is a folder");
    const at = taken.indexOf(true);
    if (at >= 0) throw this.problem(key, "notDirectory", `lies below ${above[at]}, an object`);
  }

  /** The edits of keys that begin with a prefix. */
  below(prefix: string): [string, Edits extends ReadonlyMap<string, infer E> ? E : never][] {
    return [...this.edits].filter(([key]) => key.startsWith(prefix));
  }

  problem(key: string, reason: PathError["data"]["reason"], what: string): SandboxPathError {
    const path = this.#pathOf(key);
    return new SandboxPathError(`${JSON.stringify(path)} ${what}`, { data: { path, reason } });
  }

  async #realEntries(prefix: string): Promise<Map<string, "file" | "directory">> {
    const types = new Map<string, "file" | "directory">();
    for await (const { keys, folders } of this.#sandbox.bucket.list(prefix, true)) {
      for (const key of [...keys, ...folders]) {
        const name = key.slice(prefix.length);
        if (!isPlainKey(name)) continue;
        if (name.endsWith("/")) types.set(name.slice(0, -1), "directory");
        else if (!types.has(name)) types.set(name, "file");
      }
    }
    return types;
  }

  async #noFolder(path: string): Promise<SandboxPathError> {
    const key = this.#sandbox.location.keyOf(path);
    return (await this.hasObject(key))
      ? this.problem(key, "notDirectory", "is no folder")
      : this.problem(key, "missing", "is not there");
  }

  #pathOf(key: string): string {
    return this.#sandbox.location.pathOf(key);
  }
}
