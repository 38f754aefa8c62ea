import type { StrategyHost } from "../../contract/host.ts";
import type {
  CommitOptions,
  PublishPolicy,
  Resolution,
  TransactionPart,
} from "../../contract/strategy.ts";
import { type BytePath, type RelativePath, displayPath } from "../../model/byte-path.ts";
import { compareText } from "../../model/compare-text.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import type { Json } from "../../model/sandbox-ref.ts";
import { checkConflicts } from "../conflicts.ts";
import { checkDatabases } from "../guard/databases.ts";
import { indexDigests, sameIndexes, settleGitIndex } from "../guard/git-folder.ts";
import { applyPolicy } from "../publish-policy.ts";
import type { StagedLoss, UndoCheck } from "../publish/index.ts";
import { publicPath } from "../public-path.ts";
import type { ChangeSet, TreeChange } from "../tree-change.ts";
import { runTask } from "../threads/pool.ts";
import type { OpenPlace, Workspace } from "../workspace.ts";
import {
  conflictError,
  describeConflict,
  describeShelved,
  rollbackError,
  stepFailure,
} from "./commit-errors.ts";
import {
  type CommitRecord,
  forgetCommitted,
  readCommitted,
  writeCommitted,
} from "./committed-record.ts";
import { type MergeSources, dropMerged, mergeConflicts } from "./merge-changes.ts";
import { workspaceHome } from "./place.ts";
import { resolvePaths } from "./settle.ts";

/** What publishing needs to know besides the sandbox itself. */
export interface PublishSettings {
  readonly exclude: readonly string[];
  readonly policy: PublishPolicy;
}

function describeLoss({ path, owner, xattrs }: StagedLoss): string {
  const lost = [...(owner ? ["owner or group"] : []), ...xattrs];
  return `${displayPath(path)} could not keep its ${lost.join(", ")}`;
}

/** The two-phase part of every file strategy: what a transaction does with one sandbox. */
export class FileCommit {
  readonly #host: StrategyHost;
  readonly #workspace: Workspace;
  readonly #settings: PublishSettings;

  constructor(host: StrategyHost, workspace: Workspace, settings: PublishSettings) {
    this.#host = host;
    this.#workspace = workspace;
    this.#settings = settings;
  }

  /** Checks, merges and stages the changes; the real tree is only looked at. */
  async prepare(
    place: OpenPlace,
    tx: TransactionPart,
    set: ChangeSet,
    left: number,
    options: CommitOptions,
  ): Promise<Json> {
    const stage = stageOf(place, tx);
    try {
      const { changes, merged } = await this.#publishable(place, set.changes, options);
      if (changes.length === 0) return { ...recordOf(tx, stage, [], options), noop: true };
      const indexes = await indexDigests(this.#host, place, changes);
      const { losses } = await runTask("stageChanges", {
        root: place.root,
        only: place.only,
        exclude: place.exclude,
        sourceRoots: await this.#sourceRoots(place),
        stage,
        changes,
      });
      const warnings = [
        ...set.skipped.map(({ path, reason }) => `${path} was left alone (${reason})`),
        ...(left > 0 ? [`${left} paths are excluded from publishing`] : []),
        ...losses.map(describeLoss),
      ];
      return { ...recordOf(tx, stage, changes, options), warnings, merged, indexes };
    } finally {
      if (options.merge === true) dropMerged(place);
    }
  }

  /** Settles conflicts that a commit of these changes would have. */
  async resolve(
    place: OpenPlace,
    changes: readonly TreeChange[],
    paths: readonly RelativePath[],
    how: Resolution,
  ): Promise<void> {
    const sources = await this.#mergeSources(place);
    const parts = { host: this.#host, workspace: this.#workspace, changes, sources };
    await resolvePaths(parts, place, paths, how);
  }

  /** The folders from which the content of a commit may come. */
  async #sourceRoots(place: OpenPlace): Promise<readonly BytePath[]> {
    const borrowed = (await this.#workspace.borrowedFrom?.(place)) ?? [];
    return [place.directory, place.root, workspaceHome(place), ...borrowed];
  }

  async #mergeSources(place: OpenPlace): Promise<MergeSources> {
    const baseTree = await this.#workspace.baseTree?.(place);
    return { sourceRoots: await this.#sourceRoots(place), baseTree };
  }

  /** Verifies right before the decision that every base still is what `prepare` saw. */
  async fence(place: OpenPlace, record: CommitRecord): Promise<void> {
    if (record.noop) return;
    const mismatches = await runTask("verifySteps", { root: place.root, stage: record.stage });
    if (mismatches.length === 0) return;
    throw conflictError(
      mismatches.map(({ path, reason }) => ({
        ...publicPath(path),
        reason,
        base: null,
        theirs: null,
        ours: null,
      })),
    );
  }

  /** Publishes what was staged. Idempotent. */
  async apply(
    place: OpenPlace,
    record: CommitRecord,
    leavesForeign = false,
  ): Promise<CommitResult> {
    if (record.noop) return this.#result(place, record, [], null);
    const at = { root: place.root, stage: record.stage, leavesForeign };
    const report = await runTask("applySteps", at);
    if (report.failure !== null) throw stepFailure(report.failure, report.applied, record.stage);
    await writeCommitted(place, record);
    return {
      ...this.#result(place, record, report.shelved.map(describeShelved), report.mode),
      undoable: {
        possible: true,
        by: "kept files",
        path: displayPath(record.stage),
        bytes: report.keptBytes,
        device: report.device,
      },
    };
  }

  /** Takes a partly applied commit back, exactly, and hands the edits back to the sandbox. Idempotent. */
  async reverse(place: OpenPlace, record: CommitRecord, leavesForeign = false): Promise<void> {
    if (record.noop) return;
    await this.#takeBack(place, record, leavesForeign);
    await this.#handBack(place, record);
  }

  /** Gives staged content back to the sandbox. Idempotent, also when staging never ran. */
  async abandon(place: OpenPlace, tx: TransactionPart): Promise<void> {
    const stage = stageOf(place, tx);
    const { stuck, remaining } = await this.#keepingBase(place, stage, () =>
      runTask("abandonStage", { root: place.root, stage }),
    );
    if (stuck.length > 0 || remaining.length > 0) {
      this.#host.emit("sandbox.stageKept", { sandboxId: place.ref.sandboxId, stage }, "warning");
    }
  }

  /** Gives the undo data of the last commit up, unless somebody's only copy is in it. Idempotent. */
  async dropUndo(place: OpenPlace): Promise<boolean> {
    const record = await readCommitted(place);
    if (record === null || record.noop) return true;
    return runTask("dropUndoData", { root: place.root, stage: record.stage });
  }

  /** Finds out whether the last commit can be taken back, before anything moves. */
  async prepareUndo(place: OpenPlace): Promise<Json> {
    const record = await readCommitted(place);
    if (record === null) throw rollbackError("undoDataMissing", place, []);
    if (!record.noop) await this.fenceUndo(place, record);
    return { ...record };
  }

  /** Refuses an undo over edits that somebody else made after the commit, naming each. */
  async fenceUndo(place: OpenPlace, record: CommitRecord): Promise<void> {
    if (record.noop) return;
    const check = await this.#checkUndo(place, record);
    switch (check.status) {
      case "ready":
        return;
      case "undoDataMissing":
        throw rollbackError("undoDataMissing", place, [], record.stage);
      case "foreignEdits":
        throw rollbackError("foreignEdits", place, check.paths.map(displayPath), record.stage);
    }
  }

  /** Brings the earlier state back; until `finishUndo`, `apply` can publish the edits again. Idempotent. */
  async applyUndo(
    place: OpenPlace,
    record: CommitRecord,
    leavesForeign = false,
  ): Promise<CommitResult> {
    if (!record.noop) await this.#takeBack(place, record, leavesForeign);
    return this.#result(place, record, [], null);
  }

  /** Hands the edits of a commit that was taken back to the sandbox, and drops what is left of it. Idempotent. */
  async finishUndo(place: OpenPlace, record: CommitRecord): Promise<void> {
    if (record.noop) await forgetCommitted(place);
    else if ((await readCommitted(place))?.ulid === record.ulid)
      await this.#handBack(place, record);
    const { stage } = record;
    await this.#keepingBase(place, stage, () => runTask("dropStage", { stage }));
  }

  /** An index that git only refreshed, as `git status` does, still is the one that was published. */
  async #checkUndo(place: OpenPlace, record: CommitRecord): Promise<UndoCheck> {
    const at = { root: place.root, stage: record.stage };
    const check = await runTask("checkUndo", at);
    if (check.status !== "foreignEdits") return check;
    const paths = await sameIndexes(this.#host, place, check.paths, record.indexes ?? {});
    if (paths.length === 0) return check;
    await runTask("adoptEntries", { ...at, paths });
    return runTask("checkUndo", at);
  }

  async #takeBack(place: OpenPlace, record: CommitRecord, leavesForeign: boolean): Promise<void> {
    const at = { root: place.root, stage: record.stage, leavesForeign };
    const report = await runTask("reverseSteps", at);
    if (report.failure !== null) throw stepFailure(report.failure, report.applied, record.stage);
    if (report.shelved.length > 0) {
      const { sandboxId } = place.ref;
      const edits = report.shelved.map(describeShelved);
      this.#host.emit("sandbox.editsShelved", { sandboxId, edits }, "warning");
    }
  }

  /** Without the new base the next attempt would take our own exchanges for somebody else's edits. */
  async #handBack(place: OpenPlace, record: CommitRecord): Promise<void> {
    const { base } = await runTask("giveBack", { root: place.root, stage: record.stage });
    const own = new Map(base);
    // The sandbox has its own side alone again: what it was merged with still stands against it.
    for (const path of record.merged ?? []) own.delete(path as RelativePath);
    await this.#workspace.rebase(place, own);
    await forgetCommitted(place);
  }

  /** Real files that shared their inode with something in the stage are still those that the sandbox started from. */
  async #keepingBase<T>(place: OpenPlace, stage: BytePath, drop: () => Promise<T>): Promise<T> {
    const { root } = place;
    const paths = await runTask("findShared", { root, stage });
    const dropped = await drop();
    if (paths.length > 0)
      await this.#workspace.rebase(place, await runTask("readIdentities", { root, paths }));
    return dropped;
  }

  async #publishable(
    place: OpenPlace,
    changes: readonly TreeChange[],
    options: CommitOptions,
  ): Promise<{ readonly changes: readonly TreeChange[]; readonly merged: readonly string[] }> {
    const policy = { ...this.#settings.policy, ...options.policy };
    const allowed = applyPolicy(changes, place.root, policy);
    const settled = await settleGitIndex(this.#host, place, allowed);
    const base = await this.#workspace.baseCheck(place);
    const checked = await checkConflicts(place, settled, base);
    const { merged, conflicts } =
      checked.conflicts.length > 0 && options.merge === true
        ? await mergeConflicts(
            this.#host,
            place,
            await this.#mergeSources(place),
            checked.conflicts,
          )
        : { merged: [], conflicts: checked.conflicts };
    if (conflicts.length > 0) throw conflictError(conflicts.map(describeConflict));
    const verified = [...checked.verified, ...merged].sort((a, b) => compareText(a.path, b.path));
    checkDatabases(place, verified);
    // Folder times alone are no reason for a commit.
    return verified.some((change) => change.implied !== true)
      ? { changes: verified, merged: merged.map(({ path }) => path) }
      : { changes: [], merged: [] };
  }

  #result(
    place: OpenPlace,
    record: CommitRecord,
    warnings: readonly string[],
    mode: string | null,
  ): CommitResult {
    return {
      success: true,
      sandboxId: place.ref.sandboxId,
      strategyName: place.ref.strategyName,
      changed: record.changed,
      added: record.added,
      deleted: record.deleted,
      noop: record.noop,
      message: record.message,
      revision: record.noop ? null : record.ulid,
      committedAt: this.#host.clock.now().toISOString(),
      undoable: { possible: true, by: record.noop ? "nothing was applied" : "kept files" },
      warnings: [...record.warnings, ...warnings],
      metadata: mode === null ? {} : { publishedBy: mode },
    };
  }
}

function stageOf(place: OpenPlace, tx: TransactionPart): BytePath {
  return `${place.directory}/tx-${tx.ulid}-${tx.member}` as BytePath;
}

function recordOf(
  tx: TransactionPart,
  stage: BytePath,
  changes: readonly TreeChange[],
  options: CommitOptions,
): CommitRecord & { readonly [key: string]: Json } {
  const listed = changes.filter((change) => change.implied !== true);
  const paths = (wanted: (change: TreeChange) => boolean): string[] =>
    listed.filter(wanted).map(({ path }) => displayPath(path));
  return {
    noop: false,
    stage,
    ulid: tx.ulid,
    added: paths(({ before }) => before === null),
    deleted: paths(({ after }) => after === null),
    changed: paths(({ before, after }) => before !== null && after !== null),
    message: options.message ?? null,
    warnings: [],
  };
}
