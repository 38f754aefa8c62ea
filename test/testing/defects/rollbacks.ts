import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  type CommitResult,
  type SandboxRef,
  SandboxRollbackError,
  type TransactionPart,
} from "../../../src/index.ts";
import { Good } from "./base.ts";

/** Keeps the workspace of an undone commit. */
export class RollbackKeepsEdits extends Good {
  override async rollback(ref: SandboxRef): Promise<void> {
    await super.getPath(ref);
  }
}

/** Goes back to the state at creation, whatever happened to the resource since. */
export class RollbackShowsThePast extends Good {
  override async create(...args: Parameters<Good["create"]>): Promise<SandboxRef> {
    const ref = await super.create(...args);
    copyFileSync(join(args[1].location, "a.txt"), `${this.directory(ref)}/past`);
    return ref;
  }

  override async rollback(ref: SandboxRef): Promise<void> {
    await super.rollback(ref);
    const past = `${this.directory(ref)}/past`;
    const file = join(await this.workspacePath(ref), "a.txt");
    if (lstatSync(file).size !== lstatSync(past).size) copyFileSync(past, file);
  }
}

/** Touches the resource when it discards edits. */
export class RollbackTouches extends Good {
  override async rollback(ref: SandboxRef): Promise<void> {
    await super.rollback(ref);
    await this.touchOriginal(ref);
  }
}

/** Keeps one edit of a file that is otherwise as it was. */
export class RollbackKeepsOneEdit extends Good {
  override async rollback(ref: SandboxRef): Promise<void> {
    const old = readFileSync(join(await this.workspacePath(ref), "a.txt"), "utf8");
    await super.rollback(ref);
    const file = join(await this.workspacePath(ref), "a.txt");
    if (old === "edit\n" && readFileSync(file, "utf8").startsWith("alpha\n"))
      writeFileSync(file, old);
  }
}

/** Refuses to discard when nothing was ever edited. */
export class RefusesEarlyRollback extends Good {
  override async rollback(ref: SandboxRef): Promise<void> {
    if (await super.hasChanges(ref)) return super.rollback(ref);
    throw new SandboxRollbackError("nothing to discard", {
      data: { reason: "notUndoable", originalRestored: false, undoDataAt: null, asideAt: null },
    });
  }
}

/** Leaves a folder in the resource the second time that edits of one sandbox are discarded. */
export class DiscardsOnlyOnce extends Good {
  readonly #discarded = new Set<string>();
  readonly #undone = new Set<string>();

  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    if (tx.kind === "undo") this.#undone.add(ref.sandboxId);
    return super.commitPrepared(ref, tx);
  }

  override async rollback(ref: SandboxRef): Promise<void> {
    await super.rollback(ref);
    if (this.#undone.delete(ref.sandboxId)) return;
    if (this.#discarded.has(ref.sandboxId)) mkdirSync(join(await this.location(ref), "left"));
    this.#discarded.add(ref.sandboxId);
  }
}

/** Leaves a folder in the resource the fourth time that a commit of one sandbox is undone. */
export class UndoesOnlyThrice extends Good {
  readonly #count = new Map<string, number>();

  override async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    const result = await super.commitPrepared(ref, tx);
    const count = (this.#count.get(ref.sandboxId) ?? 0) + (tx.kind === "undo" ? 1 : 0);
    this.#count.set(ref.sandboxId, count);
    const left = join(await this.location(ref), "left");
    if (count > 3 && !existsSync(left)) mkdirSync(left);
    else rmSync(left, { recursive: true, force: true });
    return result;
  }
}
