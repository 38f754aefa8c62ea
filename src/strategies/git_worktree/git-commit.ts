import { rm } from "node:fs/promises";
import type { StrategyHost } from "../../contract/host.ts";
import type { CommitOptions, PublishPolicy, TransactionPart } from "../../contract/strategy.ts";
import { SandboxCommitError, SandboxConflictError, describeThrown } from "../../errors/index.ts";
import { type RelativePath, displayPath, toBytePath } from "../../model/byte-path.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import type { Json } from "../../model/sandbox-ref.ts";
import { syncfs } from "../../platform/native/index.ts";
import { withRoot } from "../../tree/scan/open-directory.ts";
import { describeShelved, rollbackError, stepFailure } from "../../tree/strategy/commit-errors.ts";
import {
  forgetCommitted,
  readCommitted,
  writeCommitted,
} from "../../tree/strategy/committed-record.ts";
import { runTask } from "../../tree/threads/pool.ts";
import type { OpenPlace } from "../../tree/workspace.ts";
import { readBase } from "./base-record.ts";
import { refuseReplay, requireTip, verifyBefore } from "./checks.ts";
import {
  type GitRecord,
  asJson,
  nameOfPart,
  pathLists,
  pinOf,
  recordOfPart,
  stageOf,
} from "./commit-record.ts";
import { conflictError, fewOf, requireMessage } from "./failures.ts";
import { type RawChange, parseRaw } from "./git-output.ts";
import type { Git } from "./git.ts";
import { isAncestor, isHistory } from "./history.ts";
import { mergeWorktree } from "./merge-commit.ts";
import { releaseLock, takeLock } from "./own-lock.ts";
import { pin, unpin } from "./own-refs.ts";
import { inRepository } from "./repository.ts";
import { findIdleFilters, refuseUnfiltered } from "./repository-filters.ts";
import type { Site } from "./site.ts";
import { stageCheckout } from "./stage-checkout.ts";
import { countStrayCommits } from "./stray-commits.ts";
import { indexLock, switchIndex } from "./switch-index.ts";
import { refLock, switchRef } from "./switch-ref.ts";
import { verifyAfter } from "./undo-checks.ts";

/** A sandbox that exists. */
export type OpenSite = Site & { readonly place: OpenPlace };

/** What publishing needs to know besides the sandbox itself. */
export interface PublishSettings {
  readonly exclude: readonly string[];
  readonly policy: PublishPolicy;
}

/** The two-phase part of the strategy: files, index and branch of the checkout as one step that can be repeated. */
export class GitCommit {
  readonly #host: StrategyHost;
  readonly #git: Git;
  readonly #settings: PublishSettings;

  constructor(host: StrategyHost, git: Git, settings: PublishSettings) {
    this.#host = host;
    this.#git = git;
    this.#settings = settings;
  }

  /** Merges in the object database and stages the files; the checkout, its index and the branch are only looked at. */
  async prepare(
    site: OpenSite,
    tx: TransactionPart,
    options: CommitOptions,
    hooks = true,
  ): Promise<Json> {
    requireMessage(options.message);
    refuseReplay(site, "commit");
    const { ref } = await readBase(site);
    const from = await requireTip(this.#git, site, ref);
    const name = nameOfPart(tx);
    const { exclude } = this.#settings;
    const idle = await findIdleFilters(this.#git, site);
    try {
      const merged = await mergeWorktree(this.#host, this.#git, site, {
        tip: from,
        name,
        exclude,
        options,
        hooks,
        idle,
      });
      const stage = stageOf(site, tx);
      const { ulid } = tx;
      const message = options.message ?? null;
      const common = { stage, ulid, message, ref, from };
      const nothing = async (): Promise<Json> => {
        const lists = { added: [], changed: [], deleted: [] };
        const warnings = await this.#strayWarnings(site);
        return asJson({ ...common, ...lists, warnings, noop: true, to: from, commit: from });
      };
      if (merged === null) return await nothing();
      const { to, commit, index, left } = merged;
      const raw = await this.#difference(site, from, to);
      if (raw.length === 0 && !(await isHistory(this.#git, site, { from, to, commit })))
        return await nothing();
      const files = raw.flatMap(({ path, after }) => (after?.mode.startsWith("100") ? path : []));
      await refuseUnfiltered(this.#git, site, idle, files, { index, isIndexOnly: true });
      const policy = { ...this.#settings.policy, ...options.policy };
      const where = { name, stage, from, index, policy };
      const { losses, skipped, stale } = await stageCheckout(this.#git, site, raw, where);
      await pin(site, pinOf(site, ulid), to);
      // git syncs neither objects of its own accord.
      withRoot(toBytePath(site.repository.commonDirectory), syncfs);
      const warnings = [
        ...(left > 0 ? [`${left} paths are excluded from publishing`] : []),
        ...losses.map((path) => `${displayPath(path)} could not keep its owner or attributes`),
        ...staleWarnings(stale),
        ...(await this.#rewrittenWarnings(site, { from, to })),
      ];
      const made = { ...pathLists(raw), noop: false, to, commit, warnings };
      return asJson({ ...common, ...made, ...(skipped.length > 0 && { skipped }) });
    } finally {
      await rm(`${site.folder}/${name}.index`, { force: true });
    }
  }

  /** What a commit would be refused for now; null when it would not be. Prepares one and gives it up again. */
  async findConflict(site: OpenSite): Promise<SandboxConflictError | null> {
    const ulid = this.#host.ids.next();
    const tx: TransactionPart = { gid: ulid, ulid, member: 0, kind: "commit", record: null };
    try {
      await this.prepare(site, tx, {}, false);
      return null;
    } catch (error) {
      if (error instanceof SandboxConflictError) return error;
      throw error;
    } finally {
      await this.abandon(site, tx);
    }
  }

  /** Locks the index and the branch, then verifies that everything is what `prepare` saw. */
  async fence(site: OpenSite, tx: TransactionPart, record: GitRecord): Promise<void> {
    if (record.noop) return;
    this.#lock(site, tx, record.ref);
    const raw = await this.#difference(site, record.from, record.to);
    await verifyBefore(this.#git, site, record, raw);
  }

  /** Publishes files, index and branch, in this order. Idempotent. */
  async apply(site: OpenSite, tx: TransactionPart, record: GitRecord): Promise<CommitResult> {
    if (record.noop) return this.#result(site, record, []);
    const { stage, from, to } = record;
    const leavesForeign = tx.recovering === true;
    const report = await this.#naming(record, async () => {
      const done = await runTask("applySteps", { root: site.place.root, stage, leavesForeign });
      if (done.failure !== null) throw stepFailure(done.failure, done.applied, stage);
      return done;
    });
    const told = await this.#naming(record, () => this.#move(site, tx, record, { from, to }));
    await writeCommitted(site.place, record);
    return {
      ...this.#result(site, record, [...report.shelved.map(describeShelved), ...told]),
      undoable: {
        possible: true,
        by: "kept files and the earlier commit",
        path: displayPath(stage),
        bytes: report.keptBytes,
        device: report.device,
      },
    };
  }

  /** Takes a partly applied commit back, exactly. Idempotent. */
  async reverse(site: OpenSite, tx: TransactionPart, record: GitRecord): Promise<void> {
    if (record.noop) return;
    await this.#takeBack(site, tx, record);
    await forgetCommitted(site.place);
  }

  /** Drops everything that was prepared. Idempotent, also when `prepare` never finished. */
  async abandon(site: OpenSite, tx: TransactionPart): Promise<void> {
    const record = recordOfPart(tx);
    this.#unlock(site, tx, record === null ? (await readBase(site)).ref : record.ref);
    if (tx.kind === "undo") return;
    const name = nameOfPart(tx);
    await runTask("abandonStage", { root: site.place.root, stage: stageOf(site, tx) });
    await rm(`${site.folder}/${name}.index`, { force: true });
    // The git of a coffer that was killed may go on for a moment, and make files in it.
    const files = `${site.folder}/${name}.files`;
    await rm(files, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    unpin(site, pinOf(site, tx.ulid));
  }

  /** Finds out whether the last commit can be taken back, before anything moves. */
  async prepareUndo(site: OpenSite): Promise<Json> {
    const record = (await readCommitted(site.place)) as GitRecord | null;
    if (record === null) throw rollbackError("undoDataMissing", site.place, []);
    if (!record.noop) {
      const raw = await this.#difference(site, record.from, record.to);
      await verifyAfter(this.#git, site, record, raw);
    }
    return asJson(record);
  }

  /** Locks, then refuses an undo over what somebody else did after the commit, naming it. */
  async fenceUndo(site: OpenSite, tx: TransactionPart, record: GitRecord): Promise<void> {
    if (record.noop) return;
    this.#lock(site, tx, record.ref);
    const raw = await this.#difference(site, record.from, record.to);
    await verifyAfter(this.#git, site, record, raw);
  }

  /** Brings the earlier files, index entries and commit back; until `finishUndo` they can be published again. */
  async applyUndo(site: OpenSite, tx: TransactionPart, record: GitRecord): Promise<CommitResult> {
    const told = record.noop ? [] : await this.#takeBack(site, tx, record);
    return this.#result(site, record, told);
  }

  /** Drops what is left of a commit that was taken back. Idempotent. */
  async finishUndo(site: OpenSite, record: GitRecord): Promise<void> {
    if ((await readCommitted(site.place))?.ulid === record.ulid) await forgetCommitted(site.place);
    await runTask("dropStage", { stage: record.stage });
    unpin(site, pinOf(site, record.ulid));
  }

  /** Gives the undo data of the last commit up, unless somebody's only copy is in it. Idempotent. */
  async dropUndo(site: OpenSite): Promise<boolean> {
    const record = await readCommitted(site.place);
    if (record === null || record.noop) return true;
    return runTask("dropUndoData", { root: site.place.root, stage: record.stage });
  }

  async #takeBack(site: OpenSite, tx: TransactionPart, record: GitRecord): Promise<string[]> {
    const { stage, from, to } = record;
    const leavesForeign = tx.recovering === true;
    const at = { root: site.place.root, stage, leavesForeign };
    return this.#naming(record, async () => {
      const report = await runTask("reverseSteps", at);
      if (report.failure !== null) throw stepFailure(report.failure, report.applied, stage);
      const told = await this.#move(site, tx, record, { from: to, to: from });
      const edits = [...report.shelved.map(describeShelved), ...told];
      if (edits.length > 0) {
        const { sandboxId } = site.place.ref;
        this.#host.emit("sandbox.editsShelved", { sandboxId, edits }, "warning");
      }
      return edits;
    });
  }

  /** Moves the index, then the branch. Gives what somebody else did and what therefore stayed. */
  async #move(
    site: OpenSite,
    tx: TransactionPart,
    record: GitRecord,
    way: { readonly from: string; readonly to: string },
  ): Promise<string[]> {
    const { ref, message, skipped = [] } = record;
    const name = nameOfPart(tx);
    const isBack = way.to === record.from;
    const raw = await this.#difference(site, way.from, way.to);
    const left = await switchIndex(this.#git, site, { ...way, raw, name, skipped });
    if (left === null) throw stopped(record, "the index is locked by somebody else");
    const text = isBack ? "cofferdam: undo" : `cofferdam: ${message ?? "commit"}`;
    const outcome = await switchRef(this.#git, site, { ...way, ref, name, message: text });
    const told = left.map((path) => `${displayPath(path)} was staged by somebody else and stays`);
    if (outcome === "moved") return told;
    const branch = ref ?? "HEAD";
    if (outcome === "foreign" && tx.recovering === true) {
      return [...told, `${branch} was moved by somebody else and stays; ${record.to} is kept`];
    }
    throw stopped(record, `${branch} was ${outcome === "locked" ? "locked" : "moved"} meanwhile`);
  }

  #lock(site: OpenSite, tx: TransactionPart, ref: string | null): void {
    const name = nameOfPart(tx);
    for (const lock of [indexLock(site, name), refLock(site, ref, name)]) {
      if (takeLock(lock)) continue;
      const path = lock.lock.startsWith(`${site.repository.root}/`)
        ? lock.lock.slice(site.repository.root.length + 1)
        : lock.lock;
      throw conflictError(
        [{ path: toBytePath(path) as RelativePath, reason: "locked" }],
        tx.kind === "undo" ? "rollback" : "commit",
      );
    }
  }

  #unlock(site: OpenSite, tx: TransactionPart, ref: string | null): void {
    const name = nameOfPart(tx);
    for (const lock of [indexLock(site, name), refLock(site, ref, name)]) releaseLock(lock);
  }

  async #difference(site: OpenSite, from: string, to: string): Promise<RawChange[]> {
    const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", from, to];
    return parseRaw(await this.#git.run(args, inRepository(site.repository)));
  }

  /** Whoever repairs a failure by hand has to know the commit that the repository was at. */
  async #naming<T>(record: GitRecord, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      if (thrown instanceof SandboxCommitError && thrown.data.revisionBefore === record.from)
        throw thrown;
      throw stopped(record, describeThrown(thrown), thrown);
    }
  }

  /** A cleanup forgets commits that were made inside and of which nothing is left to publish. */
  async #strayWarnings(site: OpenSite): Promise<string[]> {
    const count = await countStrayCommits(this.#git, site, inRepository(site.repository), 0);
    if (count === 0) return [];
    const stay = `${count === 1 ? "1 commit that was" : `${count} commits that were`} made in the worktree`;
    return [
      `nothing is left to publish of ${stay}: a cleanup forgets ${count === 1 ? "it" : "them"}`,
    ];
  }

  /** Whoever amended or rebased the branch meanwhile would wonder where the earlier commits come from. */
  async #rewrittenWarnings(
    site: OpenSite,
    { from, to }: { readonly from: string; readonly to: string },
  ): Promise<string[]> {
    const { commit: first } = await readBase(site);
    const call = inRepository(site.repository);
    const has = (commit: string): Promise<boolean> => isAncestor(this.#git, call, first, commit);
    if (from === first || (await has(from)) || !(await has(to))) return [];
    return [
      `the branch was rewritten or moved back: commits up to ${first.slice(0, 12)}, which it no longer had, come back`,
    ];
  }

  #result(site: OpenSite, record: GitRecord, told: readonly string[]): CommitResult {
    const { noop, added, changed, deleted, message, from, to, commit, ref } = record;
    return {
      success: true,
      sandboxId: site.place.ref.sandboxId,
      strategyName: site.place.ref.strategyName,
      added,
      changed,
      deleted,
      noop,
      message,
      revision: noop ? null : to,
      committedAt: this.#host.clock.now().toISOString(),
      undoable: { possible: true, by: noop ? "nothing was applied" : "kept files" },
      warnings: [...record.warnings, ...told],
      metadata: noop ? {} : { branch: ref, before: from, commit },
    };
  }
}

/** Whoever told git to skip a file that is there sees nothing of its new version. */
function staleWarnings(stale: readonly RelativePath[]): string[] {
  if (stale.length === 0) return [];
  const names = fewOf(stale.map(displayPath));
  return [
    `committed, but left in the checkout as before, where git skips it (--skip-worktree): ${names}`,
  ];
}

function stopped(record: GitRecord, what: string, cause?: unknown): SandboxCommitError {
  const { from, to, stage } = record;
  const known = cause instanceof SandboxCommitError ? cause.data : null;
  return new SandboxCommitError(`Moving ${record.ref ?? "HEAD"} from ${from} to ${to}: ${what}`, {
    operation: "commit",
    data: {
      originalRestored: false,
      undoDataAt: displayPath(stage),
      failedPath: known?.failedPath ?? null,
      appliedCount: known?.appliedCount ?? 0,
      revisionBefore: from,
    },
    ...(cause !== undefined && { cause }),
  });
}
