import { appendFileSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import {
  type CommitOptions,
  type CommitResult,
  type Json,
  type SandboxRef,
  SandboxRollbackError,
  type TransactionPart,
} from "../../../src/index.ts";
import { Good, lost } from "./base.ts";

/** Leaves a new link that leads out in the workspace. */
export class RollbackKeepsLinks extends Good {
  override async rollback(ref: SandboxRef): Promise<void> {
    const { changes } = await super.diff(ref);
    await super.rollback(ref);
    const link = changes.find(({ path }) => path === "docs/outward");
    if (link?.after?.target != null)
      symlinkSync(link.after.target, join(await this.workspacePath(ref), link.path));
  }
}

/** Keeps written files in memory until somebody looks. */
export class KeepsWritesInMemory extends Good {
  readonly #pending = new Map<string, () => Promise<unknown>>();

  override async write(...args: Parameters<Good["write"]>): ReturnType<Good["write"]> {
    const change = await super.write(...args);
    const [ref, path] = args;
    const content = await super.read(ref, path);
    if (String(path) === "new/b.txt") {
      await super.remove(ref, path);
      this.#pending.set(ref.sandboxId, () => super.write(ref, path, content));
    }
    return change;
  }

  override async diff(...args: Parameters<Good["diff"]>): ReturnType<Good["diff"]> {
    await this.#pending.get(args[0].sandboxId)?.();
    return super.diff(...args);
  }
}

/** Can undo only what it committed itself. */
export class UndoesFromMemory extends Good {
  readonly #committed = new Set<string>();

  override async commit(ref: SandboxRef, options?: CommitOptions): Promise<CommitResult> {
    const result = await super.commit(ref, options);
    this.#committed.add(ref.sandboxId);
    return result;
  }

  override async undoCommit(ref: SandboxRef): Promise<void> {
    if (this.#committed.has(ref.sandboxId)) return super.undoCommit(ref);
    throw new SandboxRollbackError("I do not remember", {
      data: { reason: "undoDataMissing", originalRestored: false, undoDataAt: null, asideAt: null },
    });
  }
}

/** Can restore only what it kept itself. */
export class RestoresFromMemory extends Good {
  readonly #kept = new Set<string>();

  override async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    this.#kept.add(checkpointId);
    return super.checkpoint(ref, checkpointId);
  }

  override async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    if (!this.#kept.has(checkpointId)) throw lost(checkpointId);
    return super.restoreCheckpoint(ref, checkpointId);
  }
}

/** Can discard only the edits of sandboxes it made itself. */
export class RollsBackFromMemory extends Good {
  readonly #made = new Set<string>();

  override async create(...args: Parameters<Good["create"]>): Promise<SandboxRef> {
    const ref = await super.create(...args);
    this.#made.add(ref.sandboxId);
    return ref;
  }

  override async rollback(ref: SandboxRef): Promise<void> {
    if (this.#made.has(ref.sandboxId)) await super.rollback(ref);
  }
}

/** Touches the resource when it looks for the last time. */
export class FenceTouches extends Good {
  override async fence(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    await super.fence(ref, tx);
    await this.touchOriginal(ref);
  }
}

/** Applies a second time what was applied. */
export class AppliesTwice extends Good {
  readonly #applied = new Set<string>();

  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    const result = await super.commitPrepared(ref, tx);
    const key = `${ref.sandboxId} ${tx.kind} ${tx.ulid}`;
    if (this.#applied.has(key)) appendFileSync(join(await this.location(ref), "a.txt"), "twice\n");
    this.#applied.add(key);
    return result;
  }
}

/** Loses the edits when a prepared commit is abandoned. */
export class AbandonDiscards extends Good {
  readonly #prepared = new Set<string>();

  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    const record = await super.prepare(ref, tx, options);
    if (tx.gid.startsWith("coffer1:kit")) this.#prepared.add(ref.sandboxId);
    return record;
  }

  override async reversePrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    this.#prepared.delete(ref.sandboxId);
    return super.reversePrepared(ref, tx);
  }

  override async fence(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    this.#prepared.delete(ref.sandboxId);
    return super.fence(ref, tx);
  }

  override async abandonPrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    await super.abandonPrepared(ref, tx);
    if (this.#prepared.has(ref.sandboxId)) await super.rollback(ref);
  }
}

/** Cannot abandon what it never prepared. */
export class AbandonNeedsPrepare extends Good {
  readonly #seen = new Set<string>();

  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    this.#seen.add(tx.ulid);
    return super.prepare(ref, tx, options);
  }

  override async abandonPrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    if (!this.#seen.has(tx.ulid)) throw new Error("nothing was prepared");
    return super.abandonPrepared(ref, tx);
  }
}

/** Leaves a file of a reversed commit in the resource. */
export class ReversesInPart extends Good {
  override async reversePrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    await super.reversePrepared(ref, tx);
    mkdirSync(join(await this.location(ref), "left"), { recursive: true });
  }
}

/** Does not look again before the decision. */
export class NoFence extends Good {
  override fence(): Promise<void> {
    return Promise.resolve();
  }
}

/** Never says that there is nothing to be done. */
export class NeverNothing extends Good {
  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    const record = (await super.prepare(ref, tx, options)) as { readonly [key: string]: Json };
    return tx.gid.startsWith("coffer1:kit") ? { ...record, noop: false } : record;
  }
}
