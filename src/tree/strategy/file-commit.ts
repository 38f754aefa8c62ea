import type { StrategyHost } from "../../contract/host.ts";
import type { CommitOptions, PublishPolicy, TransactionPart } from "../../contract/strategy.ts";
import {
  SandboxCommitError,
  SandboxConflictError,
  SandboxRollbackError,
} from "../../errors/index.ts";
import { type BytePath, displayPath } from "../../model/byte-path.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import type { Json } from "../../model/sandbox-ref.ts";
import { type TreeConflict, checkConflicts } from "../conflicts.ts";
import { checkDatabases } from "../guard/databases.ts";
import { settleGitIndex } from "../guard/git-folder.ts";
import { applyPolicy } from "../publish-policy.ts";
import type { Shelved, StepsResult } from "../publish/index.ts";
import { publicPath } from "../public-path.ts";
import type { ChangeSet, TreeChange } from "../tree-change.ts";
import { entryState } from "../view/entry-state.ts";
import { runTask } from "../work/pool.ts";
import type { OpenPlace, Workspace } from "../workspace.ts";
import {
  type CommitRecord,
  forgetCommitted,
  readCommitted,
  writeCommitted,
} from "./committed-record.ts";
import { mergeConflicts } from "./merge-changes.ts";
import { workspaceHome } from "./place.ts";

/** What publishing needs to know besides the sandbox itself. */
export interface PublishSettings {
  readonly exclude: readonly string[];
  readonly policy: PublishPolicy;
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
    const stage = `${place.directory}/tx-${tx.ulid}-${tx.member}` as BytePath;
    const changes = await this.#publishable(place, set.changes, options);
    if (changes.length === 0) return { ...this.#record(tx, stage, [], options, []), noop: true };
    const warnings = [
      ...set.skipped.map(({ path, reason }) => `${path} was left alone (${reason})`),
      ...(left > 0 ? [`${left} paths are excluded from publishing`] : []),
    ];
    const { losses } = await runTask("stageChanges", {
      root: place.root,
      only: place.only,
      exclude: place.exclude,
      sourceRoots: [place.directory, place.root, workspaceHome(place)],
      stage,
      changes,
    });
    warnings.push(
      ...losses.map((loss) => `${displayPath(loss.path)} could not keep its owner or attributes`),
    );
    return { ...this.#record(tx, stage, changes, options, warnings) };
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
  async apply(place: OpenPlace, record: CommitRecord): Promise<CommitResult> {
    if (record.noop) return this.#result(place, record, [], null);
    const report = await runTask("applySteps", { root: place.root, stage: record.stage });
    if (report.failure !== null) throw stepFailure(report, record.stage);
    await writeCommitted(place, record);
    return this.#result(place, record, report.shelved.map(describeShelved), report.mode);
  }

  /** Takes a partly applied commit back, exactly, and hands the edits back to the sandbox. Idempotent. */
  async reverse(place: OpenPlace, record: CommitRecord): Promise<void> {
    if (!record.noop) await this.#takeBack(place, record);
  }

  /** Gives staged content back to the sandbox. Idempotent, also when staging never ran. */
  async abandon(place: OpenPlace, tx: TransactionPart): Promise<void> {
    const stage = `${place.directory}/tx-${tx.ulid}-${tx.member}` as BytePath;
    const { stuck, remaining } = await runTask("abandonStage", { root: place.root, stage });
    if (stuck.length > 0 || remaining.length > 0) {
      this.#host.emit("sandbox.stageKept", { sandboxId: place.ref.sandboxId, stage }, "warning");
    }
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
    const check = await runTask("checkUndo", { root: place.root, stage: record.stage });
    switch (check.status) {
      case "ready":
        return;
      case "undoDataMissing":
        throw rollbackError("undoDataMissing", place, [], record.stage);
      case "foreignEdits":
        throw rollbackError("foreignEdits", place, check.paths.map(displayPath), record.stage);
    }
  }

  /** Brings the earlier state back and hands the edits back to the sandbox. Idempotent. */
  async applyUndo(place: OpenPlace, record: CommitRecord): Promise<CommitResult> {
    if (record.noop) await forgetCommitted(place);
    else await this.#takeBack(place, record);
    return this.#result(place, record, [], null);
  }

  /** Drops undo data that nobody needs any more. Idempotent. */
  async drop(stage: BytePath): Promise<void> {
    await runTask("dropStage", { stage });
  }

  /** Without the new base the next attempt would take our own exchanges for somebody else's edits. */
  async #takeBack(place: OpenPlace, record: CommitRecord): Promise<void> {
    const at = { root: place.root, stage: record.stage };
    const report = await runTask("reverseSteps", at);
    if (report.failure !== null) throw stepFailure(report, record.stage);
    const { base } = await runTask("giveBack", at);
    await this.#workspace.rebase(place, base);
    await forgetCommitted(place);
  }

  async #publishable(
    place: OpenPlace,
    changes: readonly TreeChange[],
    options: CommitOptions,
  ): Promise<readonly TreeChange[]> {
    const policy = { ...this.#settings.policy, ...options.policy };
    const allowed = applyPolicy(changes, place.root, policy);
    const settled = await settleGitIndex(this.#host, place, allowed);
    const base = await this.#workspace.baseCheck(place);
    const checked = await checkConflicts(place, settled, base);
    let { conflicts } = checked;
    let verified = checked.verified;
    if (conflicts.length > 0 && options.merge === true) {
      const outcome = await mergeConflicts(this.#host, place, conflicts);
      conflicts = outcome.conflicts;
      verified = [...verified, ...outcome.merged].sort((a, b) => (a.path < b.path ? -1 : 1));
    }
    if (conflicts.length > 0) throw conflictError(conflicts.map(describeConflict));
    checkDatabases(place, verified);
    // Folder times alone are no reason for a commit.
    return verified.some((change) => change.implied !== true) ? verified : [];
  }

  #record(
    tx: TransactionPart,
    stage: BytePath,
    changes: readonly TreeChange[],
    options: CommitOptions,
    warnings: readonly string[],
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
      warnings,
    };
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

/** Steps that stopped half way: the real tree is a mixture until they are finished or taken back. */
function stepFailure({ failure, applied }: StepsResult, stage: BytePath): SandboxCommitError {
  const path = failure?.path ?? null;
  const cause = Object.assign(new Error(failure?.message), { code: failure?.code });
  return new SandboxCommitError(
    `Publishing stopped${path === null ? "" : ` at ${displayPath(path)}`}: ${failure?.message ?? ""}`,
    {
      operation: "commit",
      cause,
      data: {
        originalRestored: false,
        undoDataAt: displayPath(stage),
        failedPath: path === null ? null : displayPath(path),
        appliedCount: applied,
      },
    },
  );
}

function describeShelved({ path, keptAt }: Shelved): string {
  const where = keptAt === null ? "stays in place" : `is kept at ${displayPath(keptAt)}`;
  return `${displayPath(path)} was changed by somebody else at the last moment; their version ${where}`;
}

function describeConflict({ change, reason, real }: TreeConflict): ConflictDetails[number] {
  return {
    ...publicPath(change.path),
    reason,
    base: change.before && entryState(change.before, null),
    theirs: real && entryState(real, null),
    ours: change.after && entryState(change.after, null),
  };
}

type ConflictDetails = SandboxConflictError["data"]["conflicts"];

function conflictError(conflicts: ConflictDetails): SandboxConflictError {
  const names = conflicts.slice(0, 3).map(({ path }) => path || ".");
  const more = conflicts.length > 3 ? ` and ${conflicts.length - 3} more` : "";
  return new SandboxConflictError(
    `Changed by somebody else since the sandbox was made: ${names.join(", ")}${more}; nothing was published`,
    {
      operation: "commit",
      hint: "Look at the real files, then take your own changes back for these paths, or commit with { merge: true }.",
      data: {
        originalRestored: true,
        undoDataAt: null,
        failedPath: conflicts[0]?.path ?? null,
        appliedCount: 0,
        conflicts,
      },
    },
  );
}

function rollbackError(
  reason: "undoDataMissing" | "foreignEdits",
  place: OpenPlace,
  paths: readonly string[],
  stage?: BytePath,
): SandboxRollbackError {
  const messages = {
    undoDataMissing:
      "The data for taking this commit back is missing or damaged; nothing was changed",
    foreignEdits: `Somebody else changed these paths after the commit: ${paths.join(", ")}; nothing was undone`,
  };
  return new SandboxRollbackError(messages[reason], {
    operation: "rollback",
    sandboxId: place.ref.sandboxId,
    hint:
      reason === "foreignEdits"
        ? "Move these edits away, or undo the other paths by hand from the kept files."
        : "The real resource stays as it was committed.",
    data: {
      reason,
      originalRestored: false,
      undoDataAt: stage === undefined ? null : displayPath(stage),
      asideAt: null,
      paths,
    },
  });
}

/** Wraps what staging or applying threw, so that the caller learns whether the real tree is as before. */
export function commitFailure(cause: unknown, failedPath: string | null): SandboxCommitError {
  return new SandboxCommitError("The commit failed before anything was published", {
    operation: "commit",
    cause,
    data: { originalRestored: true, undoDataAt: null, failedPath, appliedCount: 0 },
  });
}
