import {
  type CommitResult,
  type DiffView,
  type ListedEntry,
  type PathInput,
  SandboxPathError,
  type SandboxRef,
  type TransactionPart,
} from "../../../src/index.ts";
import { Good } from "./base.ts";

/** Remembers what happened to a sandbox. */
abstract class Remembers extends Good {
  readonly #seen = new Set<string>();

  override async write(...args: Parameters<Good["write"]>): ReturnType<Good["write"]> {
    this.#seen.add(`write ${args[0].sandboxId}`);
    return super.write(...args);
  }

  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    this.#seen.add(`${tx.kind} ${ref.sandboxId}`);
    return super.commitPrepared(ref, tx);
  }

  override async rollback(ref: SandboxRef): Promise<void> {
    this.#seen.add(`rollback ${ref.sandboxId}`);
    return super.rollback(ref);
  }

  protected has(what: string, { sandboxId }: SandboxRef): boolean {
    return this.#seen.has(`${what} ${sandboxId}`);
  }
}

/** Cannot remove before something was written. */
export class RemovesOnlyAfterWrites extends Remembers {
  override async remove(ref: SandboxRef, path: PathInput): Promise<void> {
    if (!this.has("write", ref)) throw refusal(path);
    return super.remove(ref, path);
  }
}

/** Cannot rename in a sandbox that has edits. */
export class RenamesOnlyWhenClean extends Remembers {
  override async rename(ref: SandboxRef, from: PathInput, to: PathInput): Promise<void> {
    if (this.has("write", ref) && !this.has("rollback", ref)) throw refusal(from);
    return super.rename(ref, from, to);
  }
}

/** Cannot tell the changes of what is committed. */
export class NoDiffOnceCommitted extends Remembers {
  override async diff(ref: SandboxRef): Promise<DiffView> {
    if (this.has("commit", ref)) throw refusal("");
    return super.diff(ref);
  }
}

/** Cannot list what was rolled back. */
export class NoListOnceRolledBack extends Remembers {
  override async list(ref: SandboxRef, path: PathInput): Promise<readonly ListedEntry[]> {
    if (this.has("rollback", ref)) throw refusal(path);
    return super.list(ref, path);
  }
}

function refusal(path: PathInput): SandboxPathError {
  return new SandboxPathError("not now", { data: { path: String(path), reason: "missing" } });
}
