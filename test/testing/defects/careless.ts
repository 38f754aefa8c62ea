import {
  type Change,
  type ListedEntry,
  NoneStrategy,
  type PathInput,
  type SandboxRef,
} from "../../../src/index.ts";
import { Good } from "./base.ts";

const isHostile = (path: PathInput | undefined): boolean => /^\/|\.\.|\0/.test(String(path));

/** Takes every path and every checkpoint id, in every status. */
export class RefusesNothing extends Good {
  override async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    return isHostile(path) ? new Uint8Array() : super.read(ref, path);
  }

  override async write(...args: Parameters<Good["write"]>): Promise<Change> {
    const path = String(args[1]);
    return isHostile(path)
      ? { path, kind: "unchanged", before: null, after: null }
      : super.write(...args);
  }

  override async getPath(ref: SandboxRef, path?: PathInput): Promise<string> {
    return isHostile(path) ? String(path) : super.getPath(ref, path);
  }

  override async list(ref: SandboxRef, path: PathInput): Promise<readonly ListedEntry[]> {
    return isHostile(path) ? [] : super.list(ref, path);
  }

  override async remove(ref: SandboxRef, path: PathInput): Promise<void> {
    if (!isHostile(path)) await super.remove(ref, path);
  }

  override async rename(ref: SandboxRef, from: PathInput, to: PathInput): Promise<void> {
    if (!isHostile(from) && !isHostile(to)) await super.rename(ref, from, to);
  }

  override checkpoint(): Promise<void> {
    return Promise.resolve();
  }

  override restoreCheckpoint(): Promise<void> {
    return Promise.resolve();
  }
}

/** Says that it undoes and keeps states, against its own capabilities. */
export class PretendsEverything extends NoneStrategy {
  override rollback(): Promise<void> {
    return Promise.resolve();
  }

  undoCommit(): Promise<void> {
    return Promise.resolve();
  }

  override checkpoint(): Promise<void> {
    return Promise.resolve();
  }

  override restoreCheckpoint(): Promise<void> {
    return Promise.resolve();
  }
}
