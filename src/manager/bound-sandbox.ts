import type {
  CallOptions,
  CheckpointOptions,
  CleanupOptions,
  CommitOptions,
  DiffOptions,
  ListedEntry,
  Resolution,
  SandboxStrategy,
} from "../contract/strategy.ts";
import { UnsupportedStrategyError } from "../errors/index.ts";
import type { PathInput } from "../model/byte-path.ts";
import type { Change } from "../model/change.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { DiffView } from "../model/diff-view.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import type { UndoPreview } from "../model/undo-preview.ts";
import type { SandboxOperation } from "../model/status.ts";
import { type SandboxDescription, describeRecord } from "./describe-sandbox.ts";
import { type Engine, guardedOf } from "./engine.ts";
import { findRecord, knownRecord } from "./known-record.ts";
import { previewUndo } from "./preview-undo.ts";
import { tracked } from "./with-sandbox.ts";

/**
 * One sandbox, bound to its ref: the methods of its strategy without the first argument. It holds nothing open; every
 * call checks the ref and the status anew.
 */
export class Sandbox {
  readonly ref: SandboxRef;
  readonly #engine: Engine;

  constructor(engine: Engine, ref: SandboxRef) {
    this.ref = ref;
    this.#engine = engine;
  }

  /** The exact bytes of a file as the sandbox sees it. */
  async read(path: PathInput, options?: CallOptions): Promise<Uint8Array> {
    return this.#call("read", (strategy) => strategy.read(this.ref, path, options));
  }

  /** Puts a whole file into the sandbox, missing folders included. */
  async write(
    path: PathInput,
    content: Uint8Array | string,
    options?: CallOptions,
  ): Promise<Change> {
    return this.#call("write", (strategy) => strategy.write(this.ref, path, content, options));
  }

  /**
   * What a commit would do. Changes nothing. What others changed elsewhere is told only on request: see
   * docs/limits.md#live-base-under-an-overlay.
   */
  async diff(options?: DiffOptions): Promise<DiffView> {
    return this.#call("diff", (strategy) => strategy.diff(this.ref, options));
  }

  /**
   * Publishes the changes to the resource, all or none. Readers may see some new files beside old ones while it runs:
   * see docs/limits.md#the-publication-window, and docs/limits.md#programs-that-hold-files-open.
   */
  async commit(options?: CommitOptions): Promise<CommitResult> {
    return this.#call("commit", (strategy) => strategy.commit(this.ref, options));
  }

  /**
   * Discards the edits; after a commit, first makes the resource as it was before. Not every strategy can: see
   * docs/limits.md#no-isolation-with-none, and docs/limits.md#the-publication-window.
   */
  async rollback(options?: CallOptions): Promise<void> {
    return this.#call("rollback", (strategy) => strategy.rollback(this.ref, options));
  }

  /** Takes a commit back and keeps the edits. Limits as for a commit: see docs/limits.md#the-publication-window. */
  async undoCommit(options?: CallOptions): Promise<void> {
    return this.#call("undoCommit", (strategy) =>
      this.#method(strategy, "undoCommit")(this.ref, options),
    );
  }

  /**
   * What taking the commit back would do, and what stands in the way. Changes nothing at the resource.
   * @throws SandboxStateError when nothing is committed.
   */
  async previewUndo(): Promise<UndoPreview> {
    return tracked(this.#engine, async () => {
      const { ref } = knownRecord(this.#engine, this.ref, "undoCommit");
      return previewUndo(await guardedOf(this.#engine, ref.strategyName), ref);
    });
  }

  /** Keeps the present state under an id. What it costs depends on the strategy: see docs/limits.md#cost. */
  async checkpoint(checkpointId: string, options?: CheckpointOptions): Promise<void> {
    return this.#call("checkpoint", (strategy) =>
      strategy.checkpoint(this.ref, checkpointId, options),
    );
  }

  /** Brings the sandbox back to a kept state; the state before is kept automatically. */
  async restoreCheckpoint(checkpointId: string, options?: CallOptions): Promise<void> {
    return this.#call("restoreCheckpoint", (strategy) =>
      strategy.restoreCheckpoint(this.ref, checkpointId, options),
    );
  }

  /** Drops one checkpoint. */
  async deleteCheckpoint(checkpointId: string): Promise<void> {
    return this.#call("checkpoint", (strategy) =>
      this.#method(strategy, "deleteCheckpoint")(this.ref, checkpointId),
    );
  }

  /** Frees everything that the sandbox owns and forgets it. Idempotent. */
  async cleanup(options?: CleanupOptions): Promise<void> {
    if (findRecord(this.#engine, this.ref) === null) return;
    await this.#call("cleanup", (strategy) => strategy.cleanup(this.ref, options));
  }

  /**
   * A directory, or file, that any program may work in. What it keeps depends on the mode: see
   * docs/limits.md#overlay-without-root. It is no prison: see docs/limits.md#not-a-security-boundary.
   */
  async getPath(path?: PathInput, options?: CallOptions): Promise<string> {
    return this.#call("getPath", (strategy) =>
      this.#method(strategy, "getPath")(this.ref, path, options),
    );
  }

  /** The entries of a directory. */
  async list(path: PathInput = "", options?: CallOptions): Promise<readonly ListedEntry[]> {
    return this.#call("list", (strategy) =>
      this.#method(strategy, "list")(this.ref, path, options),
    );
  }

  /** Removes an entry, directories with everything below. */
  async remove(path: PathInput, options?: CallOptions): Promise<void> {
    return this.#call("remove", (strategy) =>
      this.#method(strategy, "remove")(this.ref, path, options),
    );
  }

  /** Moves an entry. */
  async rename(from: PathInput, to: PathInput, options?: CallOptions): Promise<void> {
    return this.#call("rename", (strategy) =>
      this.#method(strategy, "rename")(this.ref, from, to, options),
    );
  }

  /**
   * Takes the edits at these paths, and below them, back: accept the rest. The sandbox has there what the resource has
   * now, or for git what it started from.
   * @throws SandboxPathError (`unchanged`) when there is no edit at one of them; nothing is taken back then.
   */
  async drop(paths: readonly PathInput[], options?: CallOptions): Promise<void> {
    return this.#call("drop", (strategy) =>
      this.#method(strategy, "drop")(this.ref, paths, options),
    );
  }

  /**
   * Settles conflicts at these paths and below them. `mine` publishes the sandbox's version over what others have done
   * there up to now, `theirs` takes the edits in conflict back, `merge` gives the sandbox the three-way merge of both.
   * What others do later is a conflict again.
   * @throws SandboxConflictError when something cannot be merged; nothing is changed then.
   */
  async resolve(
    paths: readonly PathInput[],
    how: Resolution,
    options?: CallOptions,
  ): Promise<void> {
    return this.#call("resolve", (strategy) =>
      this.#method(strategy, "resolve")(this.ref, paths, how, options),
    );
  }

  /** What is known about the sandbox. */
  describe(): Promise<SandboxDescription> {
    return Promise.resolve().then(() =>
      describeRecord(knownRecord(this.#engine, this.ref, "read")),
    );
  }

  /** Calls the strategy once the ref is known to be genuine: a forged one must not get any code loaded. */
  #call<T>(
    operation: SandboxOperation,
    work: (strategy: SandboxStrategy) => Promise<T>,
  ): Promise<T> {
    return tracked(this.#engine, async () => {
      const { ref } = knownRecord(this.#engine, this.ref, operation);
      return work(await this.#engine.registry.resolve(ref.strategyName));
    });
  }

  #method<M extends OptionalMethod>(
    strategy: SandboxStrategy,
    name: M,
  ): NonNullable<SandboxStrategy[M]> {
    const method = strategy[name];
    if (method !== undefined) return method.bind(strategy) as NonNullable<SandboxStrategy[M]>;
    const { strategyName, planId, resourceId, sandboxId } = this.ref;
    const resourceType = findRecord(this.#engine, this.ref)?.resource.type ?? "";
    throw new UnsupportedStrategyError(`The strategy ${strategyName} does not offer ${name}`, {
      data: { resourceType, strategyName, allowed: [] },
      operation: name,
      ...{ planId, resourceId, sandboxId, strategyName },
      hint: "Use a strategy that declares the capability.",
    });
  }
}

type OptionalMethod =
  "getPath" | "list" | "remove" | "rename" | "drop" | "resolve" | "undoCommit" | "deleteCheckpoint";
