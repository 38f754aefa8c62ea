import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Change, ListedEntry, PathInput, SandboxRef } from "../../../src/index.ts";
import { Good } from "./base.ts";

type Content = Uint8Array | string;

/** Takes a file for text that is none. */
export class ReadsText extends Good {
  override async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    const content = Buffer.from(await super.read(ref, path));
    return path === "data.bin" ? Buffer.from(content.toString("utf8")) : content;
  }
}

/** Leaves the end of a long file behind what is written over it. */
export class KeepsOldEnd extends Good {
  override async write(ref: SandboxRef, path: PathInput, content: Content): Promise<Change> {
    const old = await super.read(ref, path).catch(() => new Uint8Array());
    const isLong = old.length > 100 && content.length > 0;
    const end = isLong ? old.subarray(content.length) : new Uint8Array();
    return super.write(ref, path, Buffer.concat([Buffer.from(content), end]));
  }
}

/** Remembers what it read and misses what programs do. */
export class ReadsStale extends Good {
  readonly #known = new Map<string, Uint8Array>();

  override async create(...args: Parameters<Good["create"]>): Promise<SandboxRef> {
    const ref = await super.create(...args);
    this.#known.set(ref.sandboxId, await super.read(ref, "a.txt").catch(() => new Uint8Array()));
    return ref;
  }

  override async write(ref: SandboxRef, path: PathInput, content: Content): Promise<Change> {
    this.#known.delete(ref.sandboxId);
    return super.write(ref, path, content);
  }

  override async rollback(ref: SandboxRef): Promise<void> {
    this.#known.delete(ref.sandboxId);
    return super.rollback(ref);
  }

  override async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    const known = path === "a.txt" ? this.#known.get(ref.sandboxId) : undefined;
    return known ?? super.read(ref, path);
  }
}

/** Shows one plan what another wrote. */
export class MixesPlans extends Good {
  static readonly #last = new Map<string, { readonly planId: string; readonly content: Buffer }>();

  override async write(ref: SandboxRef, path: PathInput, content: Content): Promise<Change> {
    const key = `${await this.location(ref)} ${String(path)}`;
    MixesPlans.#last.set(key, { planId: ref.planId, content: Buffer.from(content) });
    return super.write(ref, path, content);
  }

  override async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    const last = MixesPlans.#last.get(`${await this.location(ref)} ${String(path)}`);
    return last !== undefined && last.planId !== ref.planId ? last.content : super.read(ref, path);
  }
}

/** Reads a folder as an empty file. */
export class ReadsFolders extends Good {
  override async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    return path === "docs" ? new Uint8Array() : super.read(ref, path);
  }
}

/** Follows links to folders when it reads. */
export class ReadsThroughLinks extends Good {
  override async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    return String(path).startsWith("way-out/")
      ? readFileSync(join(await this.workspacePath(ref), String(path)))
      : super.read(ref, path);
  }
}

/** Writes into the file that a link leads to. */
export class WritesThroughLinks extends Good {
  override async write(ref: SandboxRef, path: PathInput, content: Content): Promise<Change> {
    if (path === "planted") writeFileSync(join(await this.workspacePath(ref), path), content);
    return super.write(ref, path, content);
  }
}

/** Makes the folders of a new file in the resource too. */
export class WritesThrough extends Good {
  override async write(ref: SandboxRef, path: PathInput, content: Content): Promise<Change> {
    const change = await super.write(ref, path, content);
    const folder = dirname(join(await this.location(ref), String(path)));
    if (folder.endsWith("new/folder")) mkdirSync(folder, { recursive: true });
    return change;
  }
}

/** Does not tell when it wrote. */
export class TellsNoTime extends Good {
  override async write(ref: SandboxRef, path: PathInput, content: Content): Promise<Change> {
    const { at: _, ...change } = await super.write(ref, path, content);
    return change;
  }
}

/** Tells a wrong size for what was there before. */
export class WrongOldSizes extends Good {
  override async write(ref: SandboxRef, path: PathInput, content: Content): Promise<Change> {
    const { before, ...change } = await super.write(ref, path, content);
    return { ...change, before: before && { ...before, size: before.size + 1 } };
  }
}

/** Calls every write a modification. */
export class NeverUnchanged extends Good {
  override async write(ref: SandboxRef, path: PathInput, content: Content): Promise<Change> {
    const change = await super.write(ref, path, content);
    return change.kind === "unchanged" ? { ...change, kind: "modified" } : change;
  }
}

/** Gives every written file the usual mode. */
export class DropsModes extends Good {
  override async write(ref: SandboxRef, path: PathInput, content: Content): Promise<Change> {
    const { after, ...change } = await super.write(ref, path, content);
    chmodSync(join(await this.workspacePath(ref), String(path)), 0o644);
    return { ...change, after: after && { ...after, mode: 0o644 } };
  }
}

/** Replaces a folder by a file when told to write there. */
export class WritesOverFolders extends Good {
  override async write(ref: SandboxRef, path: PathInput, content: Content): Promise<Change> {
    if (path === "docs") rmSync(join(await this.workspacePath(ref), path), { recursive: true });
    return super.write(ref, path, content);
  }
}

/** Keeps a file of its own in the directory for programs. */
export class LittersWorkspace extends Good {
  override async getPath(ref: SandboxRef, path?: PathInput): Promise<string> {
    writeFileSync(join(await this.workspacePath(ref), ".session"), "");
    return super.getPath(ref, path);
  }
}

/** Gives the whole directory whatever is asked for. */
export class WrongInnerPath extends Good {
  override async getPath(ref: SandboxRef, path?: PathInput): Promise<string> {
    await super.getPath(ref, path);
    return super.getPath(ref);
  }
}

/** Takes every entry of a folder for a file. */
export class ListsFilesOnly extends Good {
  override async list(ref: SandboxRef, path: PathInput): Promise<readonly ListedEntry[]> {
    return (await super.list(ref, path)).map((entry) => ({ ...entry, type: "file" }));
  }
}

/** Does not remove folders. */
export class RemovesNoFolders extends Good {
  override async remove(ref: SandboxRef, path: PathInput): Promise<void> {
    if (path !== "deep") await super.remove(ref, path);
  }
}

/** Renames over what is there. */
export class RenamesOver extends Good {
  override async rename(ref: SandboxRef, from: PathInput, to: PathInput): Promise<void> {
    if (to !== "docs/guide.md") return super.rename(ref, from, to);
    const root = await this.workspacePath(ref);
    renameSync(join(root, String(from)), join(root, to));
  }
}
