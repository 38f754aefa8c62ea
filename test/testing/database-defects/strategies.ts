import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Change,
  type CommitOptions,
  type CommitResult,
  type DiffView,
  type Json,
  type PathInput,
  type Resource,
  SandboxConflictError,
  type SandboxRef,
  SandboxError,
  type TransactionPart,
  TransactionRollbackStrategy,
  commitResultOf,
} from "cofferdam";

const Good = TransactionRollbackStrategy;

/** The file of a SQLite database. */
function fileOf(strategy: {
  connections(): ReadonlyMap<string, { readonly url: string }>;
}): string {
  return strategy.connections().get("main")?.url.slice("sqlite:".length) ?? "";
}

/** Publishes a script when it is looked at. */
export class PublishesOnRead extends Good {
  #script = "";

  override async write(
    ref: SandboxRef,
    name: PathInput,
    script: Uint8Array | string,
  ): Promise<Change> {
    const change = await super.write(ref, name, script);
    this.#script = name === "edit.sql" ? `${ref.sandboxId} ${String(script)}` : "";
    return change;
  }
  override async rollback(ref: SandboxRef): Promise<void> {
    this.#script = "";
    await super.rollback(ref);
  }
  override async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    this.#script = "";
    await super.restoreCheckpoint(ref, checkpointId);
  }
  override async read(ref: SandboxRef, query: PathInput): Promise<Uint8Array> {
    const found = await super.read(ref, query);
    if (!this.#script.startsWith(ref.sandboxId)) return found;
    const script = this.#script.slice(ref.sandboxId.length);
    this.#script = "";
    await this.host.run("sqlite3", [fileOf(this.host), script]);
    return found;
  }
}

/** Shows in a sandbox without edits what the last edited one shows. */
export class MixesPlans extends Good {
  readonly #edited = new Map<string, SandboxRef>();

  override write(...given: Parameters<TransactionRollbackStrategy["write"]>): Promise<Change> {
    this.#edited.set(given[0].sandboxId, given[0]);
    return super.write(...given);
  }
  override read(ref: SandboxRef, query: PathInput): Promise<Uint8Array> {
    const last = [...this.#edited.values()].at(-1) ?? ref;
    return super.read(this.#edited.has(ref.sandboxId) ? ref : last, query);
  }
}

/** Keeps the statements that come before the one that fails. */
export class KeepsHalfOfScripts extends Good {
  override async write(
    ref: SandboxRef,
    name: PathInput,
    script: Uint8Array | string,
  ): Promise<Change> {
    let last: Change | null = null;
    for (const statement of String(script).split(";"))
      last = await super.write(ref, name, statement);
    return last ?? super.write(ref, name, script);
  }
}

/** Tells no deleted row. */
export class HidesDeletions extends Good {
  override async diff(ref: SandboxRef): Promise<DiffView> {
    const view = await super.diff(ref);
    return { ...view, changes: view.changes.filter(({ kind }) => kind !== "deleted") };
  }
}

/** Tells every row that was ever written. */
export class NeverForgets extends Good {
  #last: Change | null = null;

  override async write(
    ...given: Parameters<TransactionRollbackStrategy["write"]>
  ): Promise<Change> {
    this.#last = await super.write(...given);
    return this.#last;
  }
  override async rollback(ref: SandboxRef): Promise<void> {
    this.#last = null;
    await super.rollback(ref);
  }
  override async diff(ref: SandboxRef): Promise<DiffView> {
    const view = await super.diff(ref);
    if (!view.isEmpty || this.#last === null) return view;
    return { ...view, isEmpty: false, changes: [this.#last] };
  }
}

/** Keeps the edits when it is rolled back. */
export class RollsNothingBack extends Good {
  override rollback(): Promise<void> {
    return Promise.resolve();
  }
}

/** Brings the newest state back, whichever is asked for. */
export class RestoresNothing extends Good {
  override restoreCheckpoint(): Promise<void> {
    return Promise.resolve();
  }
}

/** Gives a fork that has none of the edits. */
export class ForksNothing extends Good {
  override async fork(source: SandboxRef, _id: string, planId: string): Promise<SandboxRef> {
    return super.create(planId, await this.host.resourceOf(source));
  }
}

/** Knows only sandboxes that it has made itself. */
export class ForgetsOtherProcesses extends Good {
  readonly #made = new Set<string>();

  override async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const ref = await super.create(planId, resource);
    this.#made.add(ref.sandboxId);
    return ref;
  }
  override async fork(
    ...given: Parameters<TransactionRollbackStrategy["fork"]>
  ): Promise<SandboxRef> {
    const ref = await super.fork(...given);
    this.#made.add(ref.sandboxId);
    return ref;
  }
  override async read(ref: SandboxRef, query: PathInput): Promise<Uint8Array> {
    const isKnown = this.#made.has(ref.sandboxId);
    return isKnown ? super.read(ref, query) : Buffer.from("[]\n");
  }
}

/** Throws away what commands did. */
export class IgnoresCommands extends Good {
  override endCopy(): Promise<void> {
    return Promise.resolve();
  }
}

/** Does not tell which rows it added. */
export class HidesAdditions extends Good {
  override async commit(ref: SandboxRef, options?: CommitOptions): Promise<CommitResult> {
    return { ...(await super.commit(ref, options)), added: [] };
  }
}

/** Says of every commit that it did something. */
export class NeverIdle extends Good {
  override async commit(ref: SandboxRef, options?: CommitOptions): Promise<CommitResult> {
    return { ...(await super.commit(ref, options)), noop: false };
  }
}

/** Prepares whatever is there, whoever has looked at it. */
export class IgnoresReviews extends Good {
  override prepare(
    ref: SandboxRef,
    part: TransactionPart,
    { message }: CommitOptions = {},
  ): Promise<Json> {
    return super.prepare(ref, part, message === undefined ? {} : { message });
  }
}

/** Says that it published what it could not. */
export class SwallowsConflicts extends Good {
  override async commit(ref: SandboxRef, options?: CommitOptions): Promise<CommitResult> {
    try {
      return await super.commit(ref, options);
    } catch (error) {
      if (!(error instanceof SandboxConflictError)) throw error;
      const at = this.host.clock.now();
      return commitResultOf(ref, [], { at, undoable: { possible: false, by: "nothing" } });
    }
  }
}

/** Publishes into a database only that nobody else has touched. */
export class WantsToBeAlone extends Good {
  #before: Buffer | null = null;

  override create(planId: string, resource: Resource): Promise<SandboxRef> {
    this.#before = readFileSync(fileOf(this.host));
    return super.create(planId, resource);
  }
  override async commit(ref: SandboxRef, options?: CommitOptions): Promise<CommitResult> {
    const isAlone = this.#before?.equals(readFileSync(fileOf(this.host))) !== false;
    const result = await super.commit(ref, options);
    this.#before = readFileSync(fileOf(this.host));
    if (isAlone) return result;
    throw new Error("somebody else was here");
  }
  override async undoCommit(ref: SandboxRef): Promise<void> {
    await super.undoCommit(ref);
    this.#before = readFileSync(fileOf(this.host));
  }
}

/** Gives the edits up with the commit that it takes back. */
export class UndoesEdits extends Good {
  override async undoCommit(ref: SandboxRef): Promise<void> {
    await super.undoCommit(ref);
    await super.rollback(ref);
  }
}

/** Says that it took back what it could not. */
export class PretendsUndo extends Good {
  override async undoCommit(ref: SandboxRef): Promise<void> {
    try {
      await super.undoCommit(ref);
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
    }
  }
}

/** Does not know a commit again that it has made. */
export class CommitsOnlyOnce extends Good {
  readonly #done = new Set<string>();

  override async commitPrepared(ref: SandboxRef, part: TransactionPart): Promise<CommitResult> {
    if (this.#done.has(part.ulid)) throw new Error("there is no such transaction");
    this.#done.add(part.ulid);
    return super.commitPrepared(ref, part);
  }
}

/** Leaves a file beside the database. */
export class LeavesSomething extends Good {
  override async cleanup(ref: SandboxRef): Promise<void> {
    await super.cleanup(ref);
    writeFileSync(join(fileOf(this.host), "../left"), "");
  }
}
