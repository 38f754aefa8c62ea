import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CommitResult, SandboxRef, TransactionPart } from "../../../src/index.ts";
import { Good } from "./base.ts";

/** Leaves a file behind when a sandbox with one kind of life is cleaned up. */
abstract class Leaks extends Good {
  readonly #lives = new Map<string, Set<string>>();

  /** What was done to the sandboxes of which something stays, in order of the alphabet. */
  protected abstract readonly life: string;

  override async write(...args: Parameters<Good["write"]>): ReturnType<Good["write"]> {
    this.#lived(args[0], "write");
    return super.write(...args);
  }

  override async getPath(...args: Parameters<Good["getPath"]>): ReturnType<Good["getPath"]> {
    this.#lived(args[0], "getPath");
    return super.getPath(...args);
  }

  override async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    this.#lived(ref, "checkpoint");
    return super.checkpoint(ref, checkpointId);
  }

  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    this.#lived(ref, tx.kind);
    return super.commitPrepared(ref, tx);
  }

  override async rollback(ref: SandboxRef): Promise<void> {
    this.#lived(ref, "rollback");
    return super.rollback(ref);
  }

  override async cleanup(ref: SandboxRef): Promise<void> {
    await super.cleanup(ref);
    const life = [...(this.#lives.get(ref.sandboxId) ?? [])].toSorted().join(" ");
    if (life === this.life)
      writeFileSync(join(this.host.stateDirectory, "area", `${ref.sandboxId}.left`), "");
  }

  #lived(ref: SandboxRef, what: string): void {
    this.#lives.set(ref.sandboxId, (this.#lives.get(ref.sandboxId) ?? new Set()).add(what));
  }
}

/** Leaks what was never used. */
export class LeaksUnused extends Leaks {
  protected override readonly life = "";
}

/** Leaks what was written to. */
export class LeaksWritten extends Leaks {
  protected override readonly life = "write";
}

/** Leaks what programs worked in. */
export class LeaksWorkedIn extends Leaks {
  protected override readonly life = "getPath";
}

/** Leaks what has checkpoints. */
export class LeaksKept extends Leaks {
  protected override readonly life = "checkpoint write";
}

/** Leaks what was committed. */
export class LeaksCommitted extends Leaks {
  protected override readonly life = "commit write";
}

/** Leaks what was rolled back. */
export class LeaksRolledBack extends Leaks {
  protected override readonly life = "rollback write";
}

/** Leaks what was committed and undone. */
export class LeaksUndone extends Leaks {
  protected override readonly life = "commit rollback undo write";
}
