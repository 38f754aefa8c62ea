import type { CommitOptions } from "../../contract/strategy.ts";
import {
  type AtomicCommitError,
  AtomicityRefusedError,
  SandboxCommitError,
  SandboxError,
  describeThrown,
} from "../../errors/index.ts";
import type { CommitReport, PlanAtomicity } from "../../model/commit-report.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import { commitLocked, committedRecord, finish, resultIn } from "../commit-sandbox.ts";
import type { Engine } from "../engine.ts";
import { asCommitError } from "../failures.ts";
import { holdSignals } from "../hold-signals.ts";
import { notNow } from "../known-record.ts";
import { withQuietPlan } from "../plan-lock.ts";
import { moveIfPossible, moveRecords } from "../record-moves.ts";
import { unreviewed } from "../refuse-unreviewed.ts";
import { needsRepair, repairWorkspace } from "../repair-workspace.ts";
import { type RecordBy, runTransaction } from "../transaction.ts";
import { type Member, type MemberProgress, noProgress } from "../transaction-members.ts";
import { inContext, refuseAborted, tracked } from "../with-sandbox.ts";
import { commitOrder } from "./commit-order.ts";
import { planDigest } from "./plan-digest.ts";
import { type PlanMember, planMembers, unknownPlan, unknownResource } from "./plan-members.ts";
import { type MemberClass, type PlanPromise, classOf, promiseOf } from "./plan-promise.ts";
import { type ReportParts, atomicCommitError, failureReport, successReport } from "./report.ts";

/** Options of a plan's commit. */
export interface PlanCommitOptions extends CommitOptions {
  /** Ids of the resources to commit; all of the plan unless given. */
  readonly only?: readonly string[];
  /** Go on where all or nothing cannot be promised, and say so in the report. */
  readonly bestEffort?: boolean;
}

/**
 * Commits the sandboxes of a plan together: every resource is in the new state, or every one is as before and the edits
 * are kept, also when the process is killed at any moment.
 * @throws AtomicCommitError with the whole report for every failure; SandboxStateError for an unknown plan.
 */
export function commitPlan(
  engine: Engine,
  planId: string,
  options: PlanCommitOptions = {},
): Promise<CommitReport> {
  return tracked(engine, async () => {
    refuseAborted(options.signal, "commit");
    try {
      const report = await withQuietPlan(engine, planId, options.signal, async () => {
        using _hold = holdSignals();
        const all = await planMembers(engine, planId);
        return await new PlanCommit(engine, planId, options).run(all);
      });
      if (report === null) throw unknownPlan(planId, "commit");
      engine.emit("plan.committed", { planId, outcome: report.outcome, order: report.order });
      await engine.undo.settle(engine);
      return report;
    } catch (thrown) {
      if (thrown instanceof SandboxError) throw thrown;
      // Only what comes before the first member can fail in such a way.
      throw atomicCommitError(untriedReport(planId, thrown), thrown);
    }
  });
}

function untriedReport(planId: string, thrown: unknown): CommitReport {
  const parts = {
    planId,
    transaction: null,
    atomicity: "atomic",
    members: [],
    skipped: [],
  } as const;
  return failureReport(parts, "refused", thrown, noProgress());
}

interface BegunParts extends ReportParts {
  readonly transaction: string;
}

class PlanCommit {
  readonly #engine: Engine;
  readonly #planId: string;
  readonly #options: PlanCommitOptions;

  constructor(engine: Engine, planId: string, options: PlanCommitOptions) {
    this.#engine = engine;
    this.#planId = planId;
    this.#options = options;
  }

  async run(all: readonly PlanMember[]): Promise<CommitReport> {
    const wanted = all.filter(({ resourceId }) => this.#options.only?.includes(resourceId) ?? true);
    const isOpen = ({ record }: PlanMember): boolean =>
      record.status === "CREATED" || record.status === "ACTIVE";
    const open = wanted.filter(isOpen);
    const skipped = wanted.filter((member) => !isOpen(member));
    const promise = promiseOf(open);
    const parts = this.#parts(open, skipped, promise);
    this.#refuse(parts, promise, wanted, all);
    if (open.length === 0) return successReport(parts, "committed", new Map());
    return this.#commit({ ...parts, members: this.#ordered(parts) });
  }

  #ordered(parts: ReportParts): PlanMember[] {
    try {
      return commitOrder(parts.members);
    } catch (thrown) {
      throw this.#refused(parts, thrown);
    }
  }

  #parts(
    members: readonly PlanMember[],
    skipped: readonly PlanMember[],
    promise: PlanPromise,
  ): ReportParts {
    const atomicity: PlanAtomicity = promise.level === "bestEffort" ? "bestEffort" : "atomic";
    return { planId: this.#planId, transaction: null, atomicity, members, skipped };
  }

  /** Everything that stands in the way before anything is touched. */
  #refuse(
    parts: ReportParts,
    promise: PlanPromise,
    wanted: readonly PlanMember[],
    all: readonly PlanMember[],
  ): void {
    const broken = wanted.find(
      ({ record }) => !["CREATED", "ACTIVE", "COMMITTED", "ROLLED_BACK"].includes(record.status),
    );
    if (broken !== undefined) throw this.#refused(parts, notNow(broken.record, "commit"), broken);
    const unknown = this.#options.only?.find((id) => !all.some((one) => one.resourceId === id));
    if (unknown !== undefined)
      throw this.#refused(parts, unknownResource(this.#planId, unknown, "commit"));
    if (promise.blockers.length === 0 || this.#options.bestEffort === true) return;
    const why = promise.blockers.map((one) => `${one.resourceId}: ${one.why}`).join("; ");
    const message = `All or nothing cannot be promised for this plan (${why})`;
    const cause = new AtomicityRefusedError(message, {
      data: { blockers: promise.blockers },
      operation: "commit",
      planId: this.#planId,
      hint: "Commit these apart, choose another strategy for them, or allow best effort.",
    });
    throw this.#refused(parts, cause);
  }

  #refused(parts: ReportParts, cause: unknown, failed?: PlanMember): AtomicCommitError {
    const progress = noProgress();
    const at = failed === undefined ? -1 : parts.members.indexOf(failed);
    if (at >= 0) progress.failedAt = at;
    const report = failureReport(parts, "refused", cause, progress);
    return atomicCommitError({ ...report, failedId: failed?.resourceId ?? null }, cause);
  }

  /** All or nothing first, then one after the other what can be part of no such thing. */
  async #commit(parts: ReportParts): Promise<CommitReport> {
    const { blockers } = promiseOf(parts.members);
    const isApart = ({ capabilities, sandboxId, isIrrevocable }: PlanMember): boolean =>
      isIrrevocable ||
      (classOf(capabilities) === "deciding" && blockers.some((one) => one.sandboxId === sandboxId));
    const together = parts.members.filter((member) => !isApart(member));
    const apart = parts.members.filter(isApart);
    if (parts.atomicity === "bestEffort") this.#warn(parts);
    const report = await this.#commitTogether({ ...parts, members: together }, apart);
    return apart.length === 0 ? report : this.#commitApart(parts, report, apart);
  }

  #warn({ members }: ReportParts): void {
    const blockers = promiseOf(members).blockers.map(({ sandboxId, why }) => ({ sandboxId, why }));
    const data = { planId: this.#planId, atomicity: "bestEffort", blockers };
    this.#engine.emit("plan.notAtomic", data, "warning");
  }

  async #commitTogether(parts: ReportParts, later: readonly PlanMember[]): Promise<CommitReport> {
    if (parts.members.length === 0) return this.#nothingTogether(parts, later);
    const engine = this.#engine;
    const ulid = engine.ids.next();
    const progress = noProgress();
    let begun = parts.members;
    const own = (): BegunParts => ({ ...parts, members: begun, transaction: ulid });
    try {
      const repaired = await this.#repaired(begun);
      const expected = await this.#reviewed([...repaired, ...later]);
      begun = await this.#begin(repaired, ulid);
      const members = begun.map((member): Member => this.#member(member, expected));
      const options = this.#memberOptions();
      const { planId } = parts;
      const recordBy = this.#recordBy(begun);
      const job = { ulid, kind: "commit", planId, members, options, progress, recordBy } as const;
      const results = await runTransaction(engine, job);
      return await this.#finished(own(), results, progress);
    } catch (thrown) {
      return this.#failed(own(), later, thrown, progress);
    }
  }

  /** Also what is committed apart must be what was reviewed. */
  async #nothingTogether(parts: ReportParts, later: readonly PlanMember[]): Promise<CommitReport> {
    try {
      await this.#reviewed(later);
    } catch (thrown) {
      throw this.#refused({ ...parts, members: later }, thrown);
    }
    return successReport(parts, "committed", new Map());
  }

  async #commitApart(
    parts: ReportParts,
    together: CommitReport,
    apart: readonly PlanMember[],
  ): Promise<CommitReport> {
    let report = together;
    for (const [at, { guarded, record, resourceId }] of apart.entries()) {
      try {
        const result = await commitLocked(guarded, record, this.#memberOptions());
        const results = { ...report.results, [resourceId]: result };
        report = { ...report, order: [...report.order, resourceId], results };
      } catch (thrown) {
        const isFirst = report.order.length === 0;
        const failed: CommitReport = {
          ...report,
          outcome: isFirst ? outcomeAlone(thrown) : "partial",
          failedId: resourceId,
          cause: describeThrown(thrown),
          notAttempted: apart.slice(at + 1).map((member) => member.resourceId),
        };
        const { planId } = parts;
        this.#engine.emit("plan.commitFailed", { planId, outcome: failed.outcome }, "warning");
        throw atomicCommitError(failed, thrown);
      }
    }
    return report;
  }

  #memberOptions(): CommitOptions {
    const { only: _only, bestEffort: _bestEffort, expect: _expect, ...options } = this.#options;
    return options;
  }

  async #repaired(members: readonly PlanMember[]): Promise<PlanMember[]> {
    const repaired: PlanMember[] = [];
    for (const member of members) {
      const { record, guarded } = member;
      const fresh = needsRepair(this.#engine, record)
        ? await repairWorkspace(guarded, record)
        : record;
      repaired.push({ ...member, record: fresh });
    }
    return repaired;
  }

  /** The digest that each member must have, when the caller expects one of the whole. */
  async #reviewed(members: readonly PlanMember[]): Promise<ReadonlyMap<string, string>> {
    const digests = new Map<string, string>();
    const { expect } = this.#options;
    if (expect === undefined) return digests;
    for (const { guarded, record, resourceId } of members) {
      digests.set(resourceId, (await guarded.raw.diff(record.ref)).digest);
    }
    if (planDigest(digests) === expect) return digests;
    throw unreviewed("plan");
  }

  /** Marks every sandbox durably before anything is done with the first. */
  async #begin(members: readonly PlanMember[], transaction: string): Promise<PlanMember[]> {
    const records = await moveRecords(
      this.#engine,
      members.map(({ record }) => record),
      "COMMITTING",
      ({ status: from }) => ({
        inFlight: { operation: "commit", from, transaction, undone: false, together: true },
      }),
    );
    return members.map((member, at) => ({ ...member, record: records[at] ?? member.record }));
  }

  #recordBy(members: readonly PlanMember[]): RecordBy {
    const { message = null } = this.#options;
    return (at, given) => {
      const { guarded, record } = members[at]!;
      return committedRecord(this.#engine, guarded.raw, record, { given, message });
    };
  }

  #member(member: PlanMember, expected: ReadonlyMap<string, string>): Member {
    const { record, guarded, capabilities, resourceId } = member;
    const expect = expected.get(resourceId);
    return {
      ref: record.ref,
      location: record.resource.location,
      record: null,
      undoes: null,
      strategy: guarded.raw,
      ...WAYS[classOf(capabilities)],
      ...(expect !== undefined && { expect }),
    };
  }

  async #finished(
    parts: BegunParts,
    given: readonly (CommitResult | null)[],
    progress: MemberProgress,
  ): Promise<CommitReport> {
    const { message = null } = this.#options;
    const results = new Map<string, CommitResult>();
    for (const [at, { guarded, record, resourceId }] of parts.members.entries()) {
      results.set(resourceId, await finish(guarded, record, given[at] ?? null, message));
    }
    const isPending = this.#engine.log.isRunning(parts.transaction);
    const report = successReport(parts, isPending ? "committed-pending" : "committed", results);
    const failed = parts.members[progress.failedAt ?? -1];
    if (!isPending || failed === undefined) return report;
    return { ...report, failedId: failed.resourceId, cause: describeThrown(progress.failure) };
  }

  async #failed(
    parts: BegunParts,
    later: readonly PlanMember[],
    thrown: unknown,
    progress: MemberProgress,
  ): Promise<CommitReport> {
    const { log } = this.#engine;
    const ulid = parts.transaction;
    const done = log.outcomeOf(ulid);
    if (done?.outcome === "committed") {
      const results = parts.members.map(({ record }) => resultIn(done, record.ref));
      return this.#finished(parts, results, progress);
    }
    const isSettled = !log.isRunning(ulid);
    const error = asCommitError(thrown, isSettled);
    for (const [at, { record, guarded }] of parts.members.entries()) {
      if (record.status !== "COMMITTING") continue;
      const own = at === progress.failedAt ? inContext(error, record.ref).toJSON() : null;
      const changes = { lastError: own, ...(isSettled && { inFlight: null }) };
      await moveIfPossible(guarded.engine, record, isSettled ? "ACTIVE" : "ERRORED", changes);
    }
    const outcome = isSettled ? "aborted" : "in-doubt";
    const keptAt = isSettled ? null : log.folderOf(ulid);
    const told = failureReport(parts, outcome, thrown, progress, keptAt);
    const notAttempted = [...told.notAttempted, ...later.map(({ resourceId }) => resourceId)];
    const report = { ...told, notAttempted };
    this.#engine.emit("plan.commitFailed", { planId: this.#planId, outcome }, "warning");
    throw atomicCommitError(report, thrown);
  }
}

/** How members of each class are committed together; those that cannot be are committed apart. */
const WAYS: Readonly<Partial<Record<MemberClass, Pick<Member, "way">>>> = {
  undoable: { way: "early" },
  deciding: { way: "deciding" },
};

/** How a commit ended that nothing else depends on. */
function outcomeAlone(thrown: unknown): "aborted" | "in-doubt" {
  const isProven = thrown instanceof SandboxCommitError && thrown.data.originalRestored;
  return isProven ? "aborted" : "in-doubt";
}
