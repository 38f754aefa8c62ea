import {
  type CommitOptions,
  type EntryState,
  type Json,
  SandboxConflictError,
  type SandboxRef,
  type TransactionPart,
} from "../../../src/index.ts";
import { Good, nothing } from "./base.ts";

/** What was, what somebody else made of it, and what the sandbox did. */
interface Clash {
  readonly path: string;
  readonly base: EntryState | null;
  readonly theirs: EntryState | null;
  readonly ours: EntryState | null;
}

/** Says that it committed several files although somebody else was there first, in one kind of clash. */
abstract class Overlooks extends Good {
  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    try {
      return await super.prepare(ref, tx, options);
    } catch (error) {
      if (tx.kind !== "commit" || !(error instanceof SandboxConflictError)) throw error;
      const { changes } = await super.diff(ref);
      const clashes = error.data.conflicts as readonly Clash[];
      if (changes.length > 1 && clashes.some((clash) => this.overlooks(clash))) return nothing(tx);
      throw error;
    }
  }

  protected abstract overlooks(clash: Clash): boolean;
}

/** Overlooks that somebody edited the same file. */
export class OverlooksEdits extends Overlooks {
  protected override overlooks({ base, theirs, ours }: Clash): boolean {
    return ours?.type === "file" && theirs !== null && theirs.mode === base?.mode;
  }
}

/** Overlooks that somebody edited what it deletes. */
export class OverlooksEditsOfDeleted extends Overlooks {
  protected override overlooks({ ours }: Clash): boolean {
    return ours === null;
  }
}

/** Overlooks that somebody deleted what it edits. */
export class OverlooksDeletions extends Overlooks {
  protected override overlooks({ path, theirs }: Clash): boolean {
    return theirs === null && !path.includes("/");
  }
}

/** Overlooks that somebody moved the folder around what it edits. */
export class OverlooksMovedFolders extends Overlooks {
  protected override overlooks({ path, theirs }: Clash): boolean {
    return theirs === null && path.includes("/");
  }
}

/** Overlooks that somebody made the same file. */
export class OverlooksAdditions extends Overlooks {
  protected override overlooks({ base }: Clash): boolean {
    return base === null;
  }
}

/** Overlooks that somebody changed the mode of what it edits. */
export class OverlooksModes extends Overlooks {
  protected override overlooks({ base, theirs }: Clash): boolean {
    return base !== null && theirs !== null && theirs.mode !== base.mode;
  }
}

/** Overlooks that somebody retargeted the same link. */
export class OverlooksLinks extends Overlooks {
  protected override overlooks({ theirs }: Clash): boolean {
    return theirs?.type === "symlink";
  }
}

/** Never gets over a conflict. */
export class ConflictsForever extends Good {
  readonly #refused = new Map<string, SandboxConflictError>();

  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    const refused = this.#refused.get(ref.sandboxId);
    if (refused !== undefined) throw refused;
    try {
      return await super.prepare(ref, tx, options);
    } catch (error) {
      if (error instanceof SandboxConflictError) this.#refused.set(ref.sandboxId, error);
      throw error;
    }
  }
}

/** Refuses when anything at all was changed by others. */
export class FearsEverybody extends Good {
  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    const { drift = [] } = await super.diff(ref, { drift: "full" });
    const prepared = await super.prepare(ref, tx, options);
    if (tx.kind === "commit" && drift.length > 0) {
      await super.abandonPrepared(ref, { ...tx, record: prepared });
      throw new SandboxConflictError("somebody was here", {
        data: {
          originalRestored: true,
          undoDataAt: null,
          failedPath: null,
          appliedCount: 0,
          conflicts: [],
        },
      });
    }
    return prepared;
  }
}
