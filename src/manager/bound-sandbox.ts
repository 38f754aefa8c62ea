import type {
  CallOptions,
  CheckpointOptions,
  CleanupOptions,
  CommitOptions,
  DiffOptions,
  ListedEntry,
  SandboxStrategy,
} from "../contract/strategy.ts";
import { UnsupportedStrategyError } from "../errors/index.ts";
import type { PathInput } from "../model/byte-path.ts";
import type { Change } from "../model/change.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { DiffView } from "../model/diff-view.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import type { SandboxOperation } from "../model/status.ts";
import { type SandboxDescription, describeRecord } from "./describe-sandbox.ts";
import type { Engine } from "./engine.ts";
import { findRecord, knownRecord } from "./known-record.ts";

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
    return (await this.#strategy("read")).read(this.ref, path, options);
  }

  /** Puts a whole file into the sandbox, missing folders included. */
  async write(
    path: PathInput,
    content: Uint8Array | string,
    options?: CallOptions,
  ): Promise<Change> {
    return (await this.#strategy("write")).write(this.ref, path, content, options);
  }

  /**
   * What a commit would do. Changes nothing. What others changed elsewhere is told only on request: see
   * docs/limits.md#live-base-under-an-overlay.
   */
  async diff(options?: DiffOptions): Promise<DiffView> {
    return (await this.#strategy("diff")).diff(this.ref, options);
  }

  /**
   * Publishes the changes to the resource, all or none. Readers may see some new files beside old ones while it runs:
   * see docs/limits.md#the-publication-window, and docs/limits.md#programs-that-hold-files-open.
   */
  async commit(options?: CommitOptions): Promise<CommitResult> {
    return (await this.#strategy("commit")).commit(this.ref, options);
  }

  /**
   * Discards the edits; after a commit, first makes the resource as it was before. Not every strategy can: see
   * docs/limits.md#no-isolation-with-none, and docs/limits.md#the-publication-window.
   */
  async rollback(options?: CallOptions): Promise<void> {
    return (await this.#strategy("rollback")).rollback(this.ref, options);
  }

  /** Takes a commit back and keeps the edits. Limits as for a commit: see docs/limits.md#the-publication-window. */
  async undoCommit(options?: CallOptions): Promise<void> {
    const undo = await this.#method("undoCommit", "undoCommit");
    return undo(this.ref, options);
  }

  /** Keeps the present state under an id. What it costs depends on the strategy: see docs/limits.md#cost. */
  async checkpoint(checkpointId: string, options?: CheckpointOptions): Promise<void> {
    return (await this.#strategy("checkpoint")).checkpoint(this.ref, checkpointId, options);
  }

  /** Brings the sandbox back to a kept state; the state before is kept automatically. */
  async restoreCheckpoint(checkpointId: string, options?: CallOptions): Promise<void> {
    const strategy = await this.#strategy("restoreCheckpoint");
    return strategy.restoreCheckpoint(this.ref, checkpointId, options);
  }

  /** Drops one checkpoint. */
  async deleteCheckpoint(checkpointId: string): Promise<void> {
    const drop = await this.#method("deleteCheckpoint", "checkpoint");
    return drop(this.ref, checkpointId);
  }

  /** Frees everything that the sandbox owns and forgets it. Idempotent. */
  async cleanup(options?: CleanupOptions): Promise<void> {
    if (findRecord(this.#engine, this.ref) === null) return;
    await (await this.#strategy("cleanup")).cleanup(this.ref, options);
  }

  /**
   * A directory, or file, that any program may work in. What it keeps depends on the mode: see
   * docs/limits.md#overlay-without-root. It is no prison: see docs/limits.md#not-a-security-boundary.
   */
  async getPath(path?: PathInput, options?: CallOptions): Promise<string> {
    const getPath = await this.#method("getPath", "getPath");
    return getPath(this.ref, path, options);
  }

  /** The entries of a directory. */
  async list(path: PathInput = "", options?: CallOptions): Promise<readonly ListedEntry[]> {
    const list = await this.#method("list", "list");
    return list(this.ref, path, options);
  }

  /** Removes an entry, directories with everything below. */
  async remove(path: PathInput, options?: CallOptions): Promise<void> {
    const remove = await this.#method("remove", "remove");
    return remove(this.ref, path, options);
  }

  /** Moves an entry. */
  async rename(from: PathInput, to: PathInput, options?: CallOptions): Promise<void> {
    const rename = await this.#method("rename", "rename");
    return rename(this.ref, from, to, options);
  }

  /** What is known about the sandbox. */
  describe(): Promise<SandboxDescription> {
    return Promise.resolve().then(() =>
      describeRecord(knownRecord(this.#engine, this.ref, "read")),
    );
  }

  /** The strategy, once the ref is known to be genuine: a forged one must not get any code loaded. */
  async #strategy(operation: SandboxOperation): Promise<SandboxStrategy> {
    const { ref } = knownRecord(this.#engine, this.ref, operation);
    return this.#engine.registry.resolve(ref.strategyName);
  }

  async #method<
    M extends "getPath" | "list" | "remove" | "rename" | "undoCommit" | "deleteCheckpoint",
  >(name: M, operation: SandboxOperation): Promise<NonNullable<SandboxStrategy[M]>> {
    const strategy = await this.#strategy(operation);
    const method = strategy[name];
    if (method !== undefined) return method.bind(strategy) as NonNullable<SandboxStrategy[M]>;
    const { strategyName, planId, resourceId, sandboxId } = this.ref;
    const { resource } = knownRecord(this.#engine, this.ref, operation);
    throw new UnsupportedStrategyError(`The strategy ${strategyName} does not offer ${name}`, {
      data: { resourceType: resource.type, strategyName, allowed: [] },
      operation: name,
      ...{ planId, resourceId, sandboxId, strategyName },
      hint: "Use a strategy that declares the capability.",
    });
  }
}
