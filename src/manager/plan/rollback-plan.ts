import { compareText } from "../../model/compare-text.ts";
import type { CallOptions, CleanupOptions } from "../../contract/strategy.ts";
import type { ErrorJson, SandboxError } from "../../errors/index.ts";
import type { UndoPreview } from "../../model/undo-preview.ts";
import type { SandboxStatus } from "../../model/status.ts";
import { cleanupSandbox } from "../cleanup-sandbox.ts";
import type { Engine } from "../engine.ts";
import { asCleanupError, asRollbackError } from "../failures.ts";
import { holdSignals } from "../hold-signals.ts";
import { withQuietPlan } from "../plan-lock.ts";
import { previewLocked } from "../preview-undo.ts";
import { rollbackSandbox } from "../rollback-sandbox.ts";
import { refuseAborted, tracked } from "../with-sandbox.ts";
import { commitOrder } from "./commit-order.ts";
import { type PlanMember, planMembers, unknownPlan } from "./plan-members.ts";
import { undoTogether } from "./undo-plan.ts";

/** What became of every sandbox of a plan, by resource id. */
export interface PlanReport {
  readonly planId: string;
  readonly succeeded: readonly string[];
  readonly failed: Readonly<Record<string, ErrorJson>>;
  readonly skipped: Readonly<Record<string, SandboxStatus>>;
}

/**
 * Takes the last commit of a plan back and keeps the edits, all or nothing.
 * @throws SandboxRollbackError (`SANDBOX_ROLLBACK`) naming what stands in the way; nothing has moved then.
 */
export function undoPlan(
  engine: Engine,
  planId: string,
  options: CallOptions = {},
): Promise<PlanReport> {
  return whole(engine, planId, "undoCommit", options, async (members) => {
    const committed = inCommitOrder(members.filter(({ record }) => record.status === "COMMITTED"));
    await undoTogether(engine, committed, "undoCommit", options);
    engine.emit("plan.undone", { planId });
    return {
      planId,
      succeeded: committed.toReversed().map(({ resourceId }) => resourceId),
      failed: {},
      skipped: statuses(members.filter((member) => !committed.includes(member))),
    };
  });
}

/** What taking the last commit of a plan back would do, by resource id. */
export interface PlanUndoPreview {
  readonly planId: string;
  /** Whether all of it can be taken back; else nothing would be. */
  readonly possible: boolean;
  readonly resources: Readonly<Record<string, UndoPreview>>;
}

/** Tells what `undoPlan` would do, and changes nothing at the resources. */
export async function previewUndoPlan(engine: Engine, planId: string): Promise<PlanUndoPreview> {
  const resources: Record<string, UndoPreview> = {};
  await whole(engine, planId, "undoCommit", {}, async (members) => {
    for (const { record, guarded, resourceId } of members) {
      if (record.status !== "COMMITTED") continue;
      resources[resourceId] = await previewLocked(guarded, record);
    }
    return { planId, succeeded: [], failed: {}, skipped: {} };
  });
  const possible = Object.values(resources).every((preview) => preview.possible);
  return { planId, possible, resources };
}

/**
 * Discards the edits of a plan; what is committed is first made as it was before, all of it or none. Goes on after
 * failures and tells them.
 */
export function rollbackPlan(
  engine: Engine,
  planId: string,
  options: CallOptions = {},
): Promise<PlanReport> {
  return whole(engine, planId, "rollback", options, async (members) => {
    const report = new Reporting(planId);
    const committed = inCommitOrder(members.filter(({ record }) => record.status === "COMMITTED"));
    const undoable = committed.filter(({ capabilities }) => capabilities.undoCommit);
    try {
      await undoTogether(engine, undoable, "rollback", options);
      for (const member of undoable.toReversed()) report.succeeded(member);
    } catch (thrown: unknown) {
      const now = await planMembers(engine, planId);
      for (const member of undoable.toReversed()) {
        const record = now.find(({ sandboxId }) => sandboxId === member.sandboxId)?.record;
        // Taken back apart, before another one failed.
        if (record?.status === "ROLLED_BACK") report.succeeded(member);
        else report.failed(member, asRollbackError(thrown));
      }
    }
    for (const member of topDown(members)) {
      const { status } = member.record;
      if (undoable.includes(member)) continue;
      if (status === "ROLLED_BACK" || status === "ERRORED") report.skipped(member);
      else await attempt(report, member, asRollbackError, () => rollback(member, options));
    }
    return report.result();
  });
}

/** Frees everything that the sandboxes of a plan own. Goes on after failures and tells them. */
export function cleanupPlan(
  engine: Engine,
  planId: string,
  options: CleanupOptions = {},
): Promise<PlanReport> {
  return whole(engine, planId, "cleanup", options, async (members) => {
    const report = new Reporting(planId);
    for (const member of members.toReversed()) {
      await attempt(report, member, asCleanupError, () =>
        cleanupSandbox(member.guarded, member.record.ref, options),
      );
    }
    return report.result();
  });
}

async function whole(
  engine: Engine,
  planId: string,
  operation: string,
  options: CallOptions,
  work: (members: readonly PlanMember[]) => Promise<PlanReport>,
): Promise<PlanReport> {
  return tracked(engine, async () => {
    refuseAborted(options.signal, operation);
    try {
      const report = await withQuietPlan(engine, planId, options.signal, async () => {
        using _hold = holdSignals();
        return await work(await planMembers(engine, planId));
      });
      if (report === null) throw unknownPlan(planId, operation);
      return report;
    } catch (thrown) {
      const error = operation === "cleanup" ? asCleanupError(thrown) : asRollbackError(thrown);
      throw error.inContext({ planId });
    }
  });
}

function rollback({ guarded, record }: PlanMember, options: CallOptions): Promise<void> {
  return rollbackSandbox(guarded, record.ref, options);
}

async function attempt(
  report: Reporting,
  member: PlanMember,
  asError: (thrown: unknown) => SandboxError,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
    report.succeeded(member);
  } catch (thrown) {
    report.failed(member, asError(thrown));
  }
}

/** By the time of their commits, those of one transaction in the order in which it took them. */
function inCommitOrder(members: readonly PlanMember[]): PlanMember[] {
  const at = ({ record }: PlanMember): string => record.lastResult?.committedAt ?? "";
  return members.toSorted((a, b) => compareText(at(a), at(b)));
}

/** Resources before what they contain; in the reverse order of their creation where that cannot be. */
function topDown(members: readonly PlanMember[]): readonly PlanMember[] {
  try {
    return commitOrder(members).toReversed();
  } catch {
    return members.toReversed();
  }
}

function statuses(members: readonly PlanMember[]): Record<string, SandboxStatus> {
  return Object.fromEntries(members.map(({ resourceId, record }) => [resourceId, record.status]));
}

class Reporting {
  readonly #planId: string;
  readonly #succeeded: string[] = [];
  readonly #failed: Record<string, ErrorJson> = {};
  readonly #skipped: PlanMember[] = [];

  constructor(planId: string) {
    this.#planId = planId;
  }

  succeeded({ resourceId }: PlanMember): void {
    this.#succeeded.push(resourceId);
  }

  failed({ resourceId }: PlanMember, error: SandboxError): void {
    this.#failed[resourceId] = error.toJSON();
  }

  skipped(member: PlanMember): void {
    this.#skipped.push(member);
  }

  result(): PlanReport {
    return {
      planId: this.#planId,
      succeeded: this.#succeeded,
      failed: this.#failed,
      skipped: statuses(this.#skipped),
    };
  }
}
