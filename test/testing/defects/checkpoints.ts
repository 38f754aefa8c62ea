import { chmodSync, existsSync, linkSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type CommitResult, type SandboxRef, type TransactionPart } from "../../../src/index.ts";
import { Good, lost } from "./base.ts";

/** Keeps a checkpoint's files as further names of the workspace's. */
export class SharesCheckpoints extends Good {
  override async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await super.checkpoint(ref, checkpointId);
    const kept = `${this.directory(ref)}/c-${checkpointId}/tree/new.txt`;
    rmSync(kept, { force: true });
    try {
      linkSync(join(await this.workspacePath(ref), "new.txt"), kept);
    } catch {
      // Not every state has this file.
    }
  }
}

/** Keeps a restored file closed until somebody asks for the changes. */
export class RestoresClosed extends Good {
  override async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await super.restoreCheckpoint(ref, checkpointId);
    await this.#setMode(ref, 0o600);
  }

  override async hasChanges(ref: SandboxRef): Promise<boolean> {
    await this.#setMode(ref, 0o644);
    return super.hasChanges(ref);
  }

  async #setMode(ref: SandboxRef, mode: number): Promise<void> {
    const file = join(await this.workspacePath(ref), "new/file.txt");
    if (existsSync(file)) chmodSync(file, mode);
  }
}

/** Commits more than what was restored. */
export class CommitsTooMuch extends Good {
  readonly #restored = new Set<string>();

  override async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await super.restoreCheckpoint(ref, checkpointId);
    this.#restored.add(ref.sandboxId);
  }

  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    const result = await super.commitPrepared(ref, tx);
    if (this.#restored.has(ref.sandboxId)) mkdirSync(join(await this.location(ref), "more"));
    return result;
  }
}

/** Cannot restore what it kept after edits were discarded. */
export class RestoresNothingLater extends Good {
  readonly #rolledBack = new Set<string>();
  readonly #later = new Set<string>();

  override async rollback(ref: SandboxRef): Promise<void> {
    await super.rollback(ref);
    this.#rolledBack.add(ref.sandboxId);
  }

  override async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    if (this.#rolledBack.has(ref.sandboxId)) this.#later.add(checkpointId);
    return super.checkpoint(ref, checkpointId);
  }

  override async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    if (this.#later.has(checkpointId)) throw lost(checkpointId);
    return super.restoreCheckpoint(ref, checkpointId);
  }
}

/** Loses every state that is newer than the restored one. */
export class ForgetsNewerCheckpoints extends Good {
  readonly #made: string[] = [];

  override async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    this.#made.push(checkpointId);
    return super.checkpoint(ref, checkpointId);
  }

  override async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await super.restoreCheckpoint(ref, checkpointId);
    for (const newer of this.#made.splice(this.#made.indexOf(checkpointId) + 1)) {
      await super.deleteCheckpoint(ref, newer);
    }
  }
}

/** Touches the resource when it keeps a state. */
export class CheckpointTouches extends Good {
  override async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await super.checkpoint(ref, checkpointId);
    await this.touchOriginal(ref);
  }
}

/** Adds something to a restored state that a diff of the clean one shows. */
export class RestoresTooMuch extends Good {
  override async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await super.restoreCheckpoint(ref, checkpointId);
    const { isEmpty } = await super.diff(ref);
    if (isEmpty) mkdirSync(join(await this.workspacePath(ref), "restored"));
  }
}

/** Loses its checkpoints in a rollback. */
export class RollbackDropsCheckpoints extends Good {
  readonly #kept = new Set<string>();

  override async rollback(ref: SandboxRef): Promise<void> {
    this.#kept.clear();
    return super.rollback(ref);
  }

  override async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    this.#kept.add(checkpointId);
    return super.checkpoint(ref, checkpointId);
  }

  override async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    if (!this.#kept.has(checkpointId)) throw lost(checkpointId);
    return super.restoreCheckpoint(ref, checkpointId);
  }
}
