import {
  chmodSync,
  mkdirSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import {
  type CommitOptions,
  type CommitResult,
  type Json,
  type PathInput,
  SandboxRollbackError,
  type SandboxRef,
  type TransactionPart,
} from "../../../src/index.ts";
import { Good, nothing } from "./base.ts";

/** Does something to the resource after it was committed or undone. */
abstract class AfterApply extends Good {
  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    const result = await super.commitPrepared(ref, tx);
    this.after(tx.kind, await this.location(ref), result);
    return result;
  }

  protected abstract after(kind: "commit" | "undo", location: string, result: CommitResult): void;
}

/** Does not keep the message. */
export class LosesMessages extends Good {
  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    return { ...(await super.commitPrepared(ref, tx)), message: "another" };
  }

  override async commit(ref: SandboxRef, options?: CommitOptions): Promise<CommitResult> {
    return { ...(await super.commit(ref, options)), message: "another" };
  }
}

/** Leaves a removed folder where it is. */
export class LosesDeletions extends AfterApply {
  protected override after(kind: string, location: string, { deleted }: CommitResult): void {
    if (kind === "commit" && deleted.includes("link-to-docs"))
      mkdirSync(join(location, "docs/empty"));
  }
}

/** Publishes programs without the right to run them. */
export class LosesModes extends AfterApply {
  protected override after(kind: string, location: string, { changed }: CommitResult): void {
    if (kind === "commit" && changed.includes("bin/tool"))
      chmodSync(join(location, "bin/tool"), 0o644);
  }
}

/** Publishes a changed file with the time of the commit. */
export class LosesTimes extends AfterApply {
  protected override after(kind: string, location: string, { changed }: CommitResult): void {
    const now = new Date();
    if (kind === "commit" && changed.includes("data.bin"))
      utimesSync(join(location, "data.bin"), now, now);
  }
}

/** Publishes files that may only be read as writable ones. */
export class PublishesWritable extends AfterApply {
  protected override after(kind: string, location: string, { changed }: CommitResult): void {
    if (kind === "commit" && changed.includes("read-only"))
      chmodSync(join(location, "read-only"), 0o600);
  }
}

/** Shows a committed file as it was before. */
export class ShowsThePast extends Good {
  readonly #past = new Map<string, Uint8Array>();

  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    const file = join(await this.location(ref), "a.txt");
    if (existsSync(file)) this.#past.set(ref.sandboxId, readFileSync(file));
    return super.commitPrepared(ref, tx);
  }

  override async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    const past = path === "a.txt" ? this.#past.get(ref.sandboxId) : undefined;
    return past ?? super.read(ref, path);
  }
}

/** Touches entries that have nothing to do with the commit. */
export class TouchesOthers extends Good {
  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    await this.touchOriginal(ref);
    return super.commitPrepared(ref, tx);
  }
}

/** Touches the resource although there is nothing to commit. */
export class TouchesForNothing extends Good {
  override async hasChanges(ref: SandboxRef): Promise<boolean> {
    const isChanged = await super.hasChanges(ref);
    if (!isChanged) await this.touchOriginal(ref);
    return isChanged;
  }
}

/** Commits whatever there is, reviewed or not. */
export class IgnoresReview extends Good {
  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    { expect: _, ...options }: CommitOptions = {},
  ): Promise<Json> {
    return super.prepare(ref, tx, options);
  }
}

/** Does not publish names with a newline. */
export class LosesOddNames extends AfterApply {
  protected override after(kind: string, location: string): void {
    if (kind !== "commit") return;
    for (const name of readdirSync(location)) {
      if (name.includes("\n")) rmSync(join(location, name));
    }
  }
}

/** Publishes links that lead out without asking. */
export class PublishesOutwardLinks extends Good {
  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    const policy = { ...options?.policy, outwardLinks: "allow" } as const;
    return super.prepare(ref, tx, { ...options, policy });
  }
}

/** Publishes setuid bits without asking. */
export class PublishesSpecialBits extends Good {
  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    const policy = { ...options?.policy, specialBits: "allow" } as const;
    return super.prepare(ref, tx, { ...options, policy });
  }
}

/** Leaves a folder of the commit behind when it is undone. */
export class LeavesAddedFolders extends AfterApply {
  protected override after(kind: string, location: string, { added }: CommitResult): void {
    if (kind === "undo" && added.includes("new/folder")) mkdirSync(join(location, "new"));
  }
}

/** Brings a deleted file back with another time. */
export class RestoresWrongTimes extends AfterApply {
  protected override after(kind: string, location: string, { deleted }: CommitResult): void {
    if (kind === "undo" && deleted.includes("docs/guide.md"))
      utimesSync(join(location, "docs/guide.md"), 1, 1);
  }
}

/** Says that it undid a commit that others have built upon. */
export class SwallowsForeignEdits extends Good {
  override async prepare(
    ref: SandboxRef,
    tx: TransactionPart,
    options?: CommitOptions,
  ): Promise<Json> {
    try {
      return await super.prepare(ref, tx, options);
    } catch (error) {
      if (tx.kind === "undo" && error instanceof SandboxRollbackError) return nothing(tx);
      throw error;
    }
  }
}

/** Removes what others made when it undoes. */
export class RemovesOthersFiles extends AfterApply {
  protected override after(kind: string, location: string): void {
    if (kind === "undo") rmSync(join(location, "docs/theirs.md"), { force: true });
  }
}

/** Touches entries that have nothing to do with the undo. */
export class UndoTouchesOthers extends Good {
  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    if (tx.kind === "undo") await this.touchOriginal(ref);
    return super.commitPrepared(ref, tx);
  }
}

/** Throws the edits away when a commit is taken back. */
export class UndoDiscards extends Good {
  override async undoCommit(ref: SandboxRef): Promise<void> {
    await super.undoCommit(ref);
    await super.rollback(ref);
  }
}
