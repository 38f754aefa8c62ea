import { writeFile } from "node:fs/promises";
import type { StrategyCapabilities } from "../../contract/capabilities.ts";
import { changedPathBytes, createDiffView } from "../../contract/diff-view.ts";
import type { StrategyHost } from "../../contract/host.ts";
import type {
  CommitOptions,
  ListedEntry,
  ProbeResult,
  SandboxStrategy,
} from "../../contract/strategy.ts";
import { CheckpointError, SandboxCleanupError, SandboxRollbackError } from "../../errors/index.ts";
import { type BytePath, type PathInput, displayPath } from "../../model/byte-path.ts";
import type { Change } from "../../model/change.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import type { DiffView } from "../../model/diff-view.ts";
import type { Resource } from "../../model/resource.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import {
  assertBeneath,
  listBeneath,
  readBeneath,
  removeBeneath,
  renameBeneath,
} from "../../tree/beneath.ts";
import { describeSet } from "../../tree/strategy/file-diff.ts";
import {
  makePlace,
  openPlace,
  placeMetadata,
  removePlace,
  unfinishedPlaces,
} from "../../tree/strategy/place.ts";
import { resolveInput } from "../../tree/strategy/resolve-input.ts";
import type { ChangeSet } from "../../tree/tree-change.ts";
import { runTask } from "../../tree/threads/pool.ts";
import type { OpenPlace } from "../../tree/workspace.ts";
import { removeBelow } from "../../tree/remove-folders.ts";
import { completeChanges, readManifestBytes } from "./known-base.ts";
import { writeInPlace } from "./write-in-place.ts";

/** Works in place: every write takes effect at once and nothing can be taken back. For those who ask for it by name. */
export class NoneStrategy implements SandboxStrategy {
  readonly capabilities: StrategyCapabilities = {
    isolation: "none",
    path: true,
    pathCalls: true,
    checkpoints: "none",
    changeTracking: "scan",
  };
  readonly #host: StrategyHost;

  constructor(host: StrategyHost) {
    this.#host = host;
  }

  async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const place = await makePlace(this.#host, planId, resource);
    try {
      const { root, only, exclude } = place;
      const manifest = await runTask("recordTree", { root, only, exclude });
      await writeFile(`${displayPath(place.directory)}/manifest`, manifest, { mode: 0o600 });
    } catch (error) {
      removePlace(place);
      throw error;
    }
    return this.#host.newRef(planId, resource, {
      ...placeMetadata(place),
      mode: "inPlace",
      isolation: "none",
      warning: "Changes take effect at once and cannot be taken back.",
    });
  }

  async discardCreation(_planId: string, resource: Resource, sandboxId: string): Promise<void> {
    for (const place of unfinishedPlaces(this.#host, resource, sandboxId)) removePlace(place);
  }

  async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    const place = await this.#place(ref);
    return readBeneath(place.root, resolveInput(place, path));
  }

  async write(ref: SandboxRef, path: PathInput, content: Uint8Array | string): Promise<Change> {
    const place = await this.#place(ref);
    const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
    const at = this.#host.clock.now().toISOString();
    return { ...(await writeInPlace(place, resolveInput(place, path), bytes)), at };
  }

  async diff(ref: SandboxRef): Promise<DiffView> {
    const place = await this.#place(ref);
    const set = await this.#changes(place);
    return createDiffView({
      sandboxId: ref.sandboxId,
      base: ref.baseFingerprintId,
      changes: await completeChanges(place, await describeSet(place, set)),
      skipped: set.skipped,
      readBefore: () => Promise.resolve(null),
      readAfter: (change) => this.read(ref, changedPathBytes(change)),
    });
  }

  async commit(ref: SandboxRef, options: CommitOptions = {}): Promise<CommitResult> {
    const { changes } = await this.diff(ref);
    const paths = (wanted: (change: Change) => boolean): string[] =>
      changes.filter(wanted).map((change) => change.path);
    return {
      success: true,
      sandboxId: ref.sandboxId,
      strategyName: ref.strategyName,
      added: paths(({ before }) => before === null),
      deleted: paths(({ after }) => after === null),
      changed: paths(({ before, after }) => before !== null && after !== null),
      noop: changes.length === 0,
      message: options.message ?? null,
      revision: null,
      committedAt: this.#host.clock.now().toISOString(),
      undoable: { possible: false, by: "changes were made in place" },
      warnings: ["There is no isolation: these changes took effect when they were made."],
      metadata: { isolation: "none" },
    };
  }

  rollback(ref: SandboxRef): Promise<void> {
    return Promise.reject(
      new SandboxRollbackError("Changes made in place cannot be taken back", {
        operation: "rollback",
        sandboxId: ref.sandboxId,
        hint: "Use the overlay strategy for work that may have to be undone.",
        data: { reason: "notUndoable", originalRestored: false, undoDataAt: null, asideAt: null },
      }),
    );
  }

  checkpoint(_ref: SandboxRef, checkpointId: string): Promise<void> {
    return Promise.reject(unsupported(checkpointId));
  }

  restoreCheckpoint(_ref: SandboxRef, checkpointId: string): Promise<void> {
    return Promise.reject(unsupported(checkpointId));
  }

  async cleanup(ref: SandboxRef): Promise<void> {
    const place = await this.#place(ref);
    const remaining = removeBelow(place.directory);
    if (remaining.length > 0) {
      throw new SandboxCleanupError("Some files of the sandbox could not be removed", {
        operation: "cleanup",
        data: { remaining },
      });
    }
    removePlace(place);
  }

  async getPath(ref: SandboxRef, path: PathInput = ""): Promise<string> {
    const place = await this.#place(ref);
    const relative = resolveInput(place, path);
    assertBeneath(place.root, relative);
    return displayPath((relative === "" ? place.root : `${place.root}/${relative}`) as BytePath);
  }

  async list(ref: SandboxRef, path: PathInput): Promise<readonly ListedEntry[]> {
    const place = await this.#place(ref);
    const entries = listBeneath(place.root, resolveInput(place, path, "root"));
    const { only } = place;
    return only === null ? entries : entries.filter(({ name }) => name === displayPath(only));
  }

  async remove(ref: SandboxRef, path: PathInput): Promise<void> {
    const place = await this.#place(ref);
    removeBeneath(place.root, resolveInput(place, path));
  }

  async rename(ref: SandboxRef, from: PathInput, to: PathInput): Promise<void> {
    const place = await this.#place(ref);
    renameBeneath(place.root, resolveInput(place, from), resolveInput(place, to));
  }

  /** Works everywhere. */
  probe(): Promise<ProbeResult> {
    return Promise.resolve({ works: true, mode: "inPlace", reason: "there is no isolation" });
  }

  #place(ref: SandboxRef): Promise<OpenPlace> {
    return openPlace(this.#host, ref);
  }

  async #changes(place: OpenPlace): Promise<ChangeSet> {
    return runTask("compareTree", {
      workspace: place.root,
      root: place.root,
      manifest: await readManifestBytes(place),
      only: place.only,
      exclude: place.exclude,
    });
  }
}

function unsupported(checkpointId: string): CheckpointError {
  return new CheckpointError("The strategy none keeps no checkpoints", {
    operation: "checkpoint",
    hint: "Use the overlay strategy.",
    data: { checkpointId, reason: "unsupported" },
  });
}
