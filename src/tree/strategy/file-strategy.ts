import { createHash } from "node:crypto";
import { digestChanges } from "../../contract/diff-view.ts";
import type { StrategyHost } from "../../contract/host.ts";
import type { StrategyCapabilities } from "../../contract/capabilities.ts";
import type {
  CallOptions,
  CleanupOptions,
  CommitOptions,
  DiffOptions,
  HasChangesOptions,
  ListedEntry,
  PublishPolicy,
  Resolution,
  SandboxStrategy,
  TransactionPart,
} from "../../contract/strategy.ts";
import { SandboxCleanupError, SandboxCreationError, SandboxError } from "../../errors/index.ts";
import { type PathInput, displayPath } from "../../model/byte-path.ts";
import type { Change } from "../../model/change.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import type { DiffView } from "../../model/diff-view.ts";
import type { Resource } from "../../model/resource.ts";
import type { Json, SandboxRef } from "../../model/sandbox-ref.ts";
import { assertBeneath, pathError } from "../beneath.ts";
import { filterPublished, isPublished } from "../publish-filter.ts";
import { removeFolder } from "../remove-folders.ts";
import type { ChangeSet } from "../tree-change.ts";
import { runTask } from "../threads/pool.ts";
import type { OpenPlace, SandboxPlace, Workspace } from "../workspace.ts";
import {
  baseFolder,
  copyBase,
  currentEpoch,
  enterEpoch,
  freeEpoch,
  markCheckpoint,
  returnToCheckpoint,
  unmarkCheckpoint,
} from "./ancestors.ts";
import { type CommitRecord, readCommitted } from "./committed-record.ts";
import { commitFailure, notAsReviewed } from "./commit-errors.ts";
import { FileCommit } from "./file-commit.ts";
import { describeSet, diffFiles } from "./file-diff.ts";
import { fillPlace } from "./fill-place.ts";
import { keepBase } from "./kept-base.ts";
import {
  forkPlace,
  makePlace,
  openPlace,
  placeMetadata,
  removePlace,
  unfinishedPlaces,
  workspaceHome,
} from "./place.ts";
import { resolveInput, resolveInputs } from "./resolve-input.ts";
import { dropPaths } from "./settle.ts";
import { describeWrite } from "./write-change.ts";

/** Settings that every file strategy understands. */
export interface FileStrategyOptions {
  /** Patterns of paths that stay in the sandbox. */
  readonly exclude?: readonly string[];
  readonly policy?: PublishPolicy;
  /** Tell as an event when a resource holds more bytes than this; null for never. */
  readonly warnBytes?: number | null;
}

/** What a scan found, and how many paths stay in the sandbox. */
interface Scan {
  readonly set: ChangeSet;
  readonly left: number;
}

/** A scan that told `hasChanges` that there is something to do, for the `prepare` of that one transaction. */
interface KnownScan extends Scan {
  readonly sandboxId: string;
  readonly transaction: string;
}

/**
 * A strategy for directories and single files: everything except how a workspace is made, which the subclass supplies.
 * Diff, conflict check, staging, publishing and undo exist once, here and in the tree engine below.
 */
export abstract class FileStrategy implements SandboxStrategy {
  abstract readonly capabilities: StrategyCapabilities;
  protected abstract readonly workspace: Workspace;
  protected readonly host: StrategyHost;
  readonly #options: FileStrategyOptions;
  #commitPart: FileCommit | undefined;
  #lastScan: KnownScan | undefined;

  constructor(host: StrategyHost, options: FileStrategyOptions = {}) {
    this.host = host;
    this.#options = options;
  }

  async create(planId: string, resource: Resource, options?: CallOptions): Promise<SandboxRef> {
    this.#refuseElsewhere(resource);
    const place = await makePlace(this.host, planId, resource);
    return fillPlace(this.workspace, place, async () => {
      await this.#warnOfSize(place);
      const kept = await keepBase(place, currentEpoch(place), options);
      const { metadata } = await this.workspace.create(place, options);
      await kept?.settle();
      const base = createHash("sha256")
        .update(JSON.stringify([place.root, metadata]))
        .digest("hex");
      return this.host.newRef(planId, resource, { ...placeMetadata(place), ...metadata }, base);
    });
  }

  async fork(
    source: SandboxRef,
    checkpointId: string,
    planId: string,
    options?: CallOptions,
  ): Promise<SandboxRef> {
    const from = await this.#place(source);
    const place = forkPlace(this.host, planId, from);
    return fillPlace(this.workspace, place, async () => {
      await this.workspace.fork(from, checkpointId, place, options);
      await copyBase(from, checkpointId, place);
      const metadata = { ...source.metadata, ...placeMetadata(place) };
      return this.host.newRef(planId, from.resource, metadata, source.baseFingerprintId);
    });
  }

  async discardCreation(_planId: string, resource: Resource, sandboxId: string): Promise<void> {
    for (const place of unfinishedPlaces(this.host, resource, sandboxId)) {
      const remaining = await this.workspace.destroy(place);
      if (remaining.length > 0) throw cleanupError(remaining);
      removePlace(place);
    }
  }

  async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    const place = await this.#place(ref);
    return this.workspace.read(place, resolveInput(place, path));
  }

  async write(ref: SandboxRef, path: PathInput, content: Uint8Array | string): Promise<Change> {
    const place = await this.#place(ref);
    const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content;
    return describeWrite(this.workspace, place, resolveInput(place, path), bytes, this.host.clock);
  }

  async diff(ref: SandboxRef, options: DiffOptions = {}): Promise<DiffView> {
    const place = await this.#place(ref);
    return diffFiles(place, (await this.#changes(place, options)).set, this.workspace, options);
  }

  commit(ref: SandboxRef, options?: CommitOptions): Promise<CommitResult> {
    return this.host.commitAlone(this, ref, options);
  }

  undoCommit(ref: SandboxRef, options?: CallOptions): Promise<void> {
    return this.host.undoAlone(this, ref, options);
  }

  async rollback(ref: SandboxRef): Promise<void> {
    const place = await this.#place(ref);
    await this.workspace.quiesce(place, "rollback");
    const leftovers = await this.#discard(place);
    if (leftovers.length > 0) {
      this.host.emit(
        "sandbox.leftoversKept",
        { sandboxId: ref.sandboxId, paths: [...leftovers] },
        "warning",
      );
    }
  }

  async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    const place = await this.#place(ref);
    await this.workspace.checkpoint(place, checkpointId);
    await markCheckpoint(place, checkpointId);
  }

  async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    const place = await this.#place(ref);
    await this.workspace.quiesce(place, "rollback");
    try {
      await this.workspace.restore(place, checkpointId);
      await returnToCheckpoint(place, checkpointId);
    } catch (error) {
      // Should the way back fail as well, whoever repairs it has to know where everything lies.
      if (error instanceof Error && !(error instanceof SandboxError))
        Object.assign(error, { keptAt: displayPath(workspaceHome(place)) });
      throw error;
    }
  }

  async deleteCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    const place = await this.#place(ref);
    await this.workspace.deleteCheckpoint(place, checkpointId);
    unmarkCheckpoint(place, checkpointId);
  }

  async cleanup(ref: SandboxRef, _options?: CleanupOptions): Promise<void> {
    const place = await this.#place(ref);
    await this.workspace.quiesce(place, "cleanup");
    const remaining = await this.workspace.destroy(place);
    if (remaining.length > 0) throw cleanupError(remaining);
    removePlace(place);
  }

  async getPath(ref: SandboxRef, path: PathInput = ""): Promise<string> {
    const place = await this.#place(ref);
    const relative = resolveInput(place, path, "root");
    const root = await this.workspace.path(place);
    if (place.only !== null) return displayPath(root);
    assertBeneath(root, relative);
    return displayPath(root) + (relative === "" ? "" : `/${displayPath(relative)}`);
  }

  async list(ref: SandboxRef, path: PathInput): Promise<readonly ListedEntry[]> {
    const place = await this.#place(ref);
    const entries = await this.workspace.list(place, resolveInput(place, path, "root"));
    return place.only === null
      ? entries
      : entries.filter((entry) => entry.name === displayPath(place.only!));
  }

  async remove(ref: SandboxRef, path: PathInput): Promise<void> {
    const place = await this.#place(ref);
    await this.workspace.remove(place, resolveInput(place, path));
  }

  async rename(ref: SandboxRef, from: PathInput, to: PathInput): Promise<void> {
    const place = await this.#place(ref);
    if (place.only !== null) throw pathError(resolveInput(place, from), "outside");
    await this.workspace.rename(place, resolveInput(place, from), resolveInput(place, to));
  }

  async drop(ref: SandboxRef, paths: readonly PathInput[]): Promise<void> {
    const place = await this.#place(ref);
    await dropPaths(this.workspace, place, resolveInputs(place, paths));
  }

  async resolve(ref: SandboxRef, paths: readonly PathInput[], how: Resolution): Promise<void> {
    const place = await this.#place(ref);
    await this.workspace.quiesce(place, "checkpoint");
    const { changes } = (await this.#changes(place, {})).set;
    await this.#commits.resolve(place, changes, resolveInputs(place, paths), how);
  }

  /** Whether a commit would publish anything; a scan is used again by the `prepare` of the same transaction. */
  async hasChanges(ref: SandboxRef, options: HasChangesOptions = {}): Promise<boolean> {
    const place = await this.#place(ref);
    if (this.workspace.hasChange !== undefined) {
      if ((await readCommitted(place)) !== null) return false;
      return this.workspace.hasChange(place, ({ path, implied }) => {
        return implied !== true && isPublished(path, this.#options.exclude ?? []);
      });
    }
    const scan = await this.#changes(place, options);
    const { transaction } = options;
    const isLasting = this.capabilities.changeTracking === "scan";
    this.#lastScan =
      isLasting && transaction !== undefined
        ? { ...scan, sandboxId: ref.sandboxId, transaction }
        : undefined;
    return scan.set.changes.some((change) => change.implied !== true);
  }

  async prepare(ref: SandboxRef, tx: TransactionPart, options: CommitOptions = {}): Promise<Json> {
    const place = await this.#place(ref);
    if (tx.kind === "undo") return this.#commits.prepareUndo(place);
    await this.workspace.quiesce(place, "commit");
    try {
      const { set, left } = this.#takeScan(ref, tx) ?? (await this.#changes(place, options));
      if (options.expect !== undefined) await this.#expect(place, set, options.expect);
      return await this.#commits.prepare(place, tx, set, left, options);
    } catch (error) {
      throw error instanceof SandboxError ? error : commitFailure(error, null);
    }
  }

  async fence(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const place = await this.#place(ref);
    const record = tx.record as unknown as CommitRecord;
    await (tx.kind === "undo"
      ? this.#commits.fenceUndo(place, record)
      : this.#commits.fence(place, record));
  }

  async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    const place = await this.#place(ref);
    const record = tx.record as unknown as CommitRecord;
    const { kind, recovering } = tx;
    return kind === "undo"
      ? this.#commits.applyUndo(place, record, recovering)
      : this.#commits.apply(place, record, recovering);
  }

  async reversePrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const place = await this.#place(ref);
    const record = tx.record as unknown as CommitRecord;
    const { kind, recovering } = tx;
    if (kind === "undo") await this.#commits.apply(place, record, recovering);
    else await this.#commits.reverse(place, record, recovering);
  }

  async abandonPrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    if (tx.kind === "commit") await this.#commits.abandon(await this.#place(ref), tx);
  }

  async forget(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    // A commit's staged folder now is its undo data; only an undo has nothing more to keep.
    if (tx.kind !== "undo") return;
    const place = await this.#place(ref);
    await this.#commits.finishUndo(place, tx.record as unknown as CommitRecord);
  }

  async checkUndo(ref: SandboxRef): Promise<void> {
    await this.#commits.prepareUndo(await this.#place(ref));
  }

  async dropUndo(ref: SandboxRef): Promise<boolean> {
    return this.#commits.dropUndo(await this.#place(ref));
  }

  async #warnOfSize({ root, only, exclude, resource }: SandboxPlace): Promise<void> {
    const { warnBytes = null } = this.#options;
    if (warnBytes === null) return;
    const bytes = await runTask("measureTree", { root, only, exclude });
    if (bytes <= warnBytes) return;
    const { resourceId } = resource;
    this.host.emit("resource.large", { resourceId, bytes, warnBytes }, "warning");
  }

  #refuseElsewhere(resource: Resource): void {
    const isAsked = resource.properties?.["workspaceDirectory"] !== undefined;
    if (!isAsked || this.workspace.canLieElsewhere === true) return;
    const name = this.host.strategyName;
    throw new SandboxCreationError(`The strategy ${name} keeps its workspace with the resource`, {
      operation: "create",
      resourceId: resource.resourceId,
      hint: "Leave workspaceDirectory out, or use copy_on_write or filesystem_copy.",
      data: { stage: "workspaceDirectory", residue: [] },
    });
  }

  /** Throws the edits away, and with them everything that was known about the base that they started from. */
  async #discard(place: OpenPlace): Promise<readonly string[]> {
    const epoch = freeEpoch(place);
    try {
      const kept = await keepBase(place, epoch);
      const { leftovers } = await this.workspace.discard(place);
      await kept?.settle();
      await enterEpoch(place, epoch);
      return leftovers;
    } catch (error) {
      if (currentEpoch(place) !== epoch) removeFolder(baseFolder(place, epoch));
      throw error;
    }
  }

  get #commits(): FileCommit {
    this.#commitPart ??= new FileCommit(this.host, this.workspace, {
      exclude: this.#options.exclude ?? [],
      policy: this.#options.policy ?? {},
    });
    return this.#commitPart;
  }

  #place(ref: SandboxRef): Promise<OpenPlace> {
    return openPlace(this.host, ref);
  }

  async #changes(place: OpenPlace, options: CallOptions): Promise<Scan> {
    // After a commit the workspace is what was committed; there is nothing more to publish.
    if ((await readCommitted(place)) !== null)
      return { set: { changes: [], skipped: [] }, left: 0 };
    const set = await this.workspace.changes(place, options);
    const { published, left } = filterPublished(set.changes, this.#options.exclude ?? []);
    return { set: { changes: published, skipped: set.skipped }, left: left.length };
  }

  #takeScan(ref: SandboxRef, tx: TransactionPart): Scan | null {
    const known = this.#lastScan;
    this.#lastScan = undefined;
    return known?.sandboxId === ref.sandboxId && known.transaction === tx.ulid ? known : null;
  }

  async #expect(place: OpenPlace, set: ChangeSet, digest: string): Promise<void> {
    if (digestChanges(await describeSet(place, set)) !== digest) throw notAsReviewed();
  }
}

function cleanupError(remaining: readonly string[]): SandboxCleanupError {
  return new SandboxCleanupError("Some files of the sandbox could not be removed", {
    operation: "cleanup",
    hint: "Remove what blocks them (such as an immutable flag), then call cleanup again.",
    data: { remaining },
  });
}
