import { basename } from "node:path";
import { capabilitiesOf } from "../../contract/capabilities-of.ts";
import type {
  CallOptions,
  CheckpointOptions,
  CleanupOptions,
  DiffOptions,
  Resolution,
} from "../../contract/strategy.ts";
import type { PathInput } from "../../model/byte-path.ts";
import type { CommitReport } from "../../model/commit-report.ts";
import type { DiffView } from "../../model/diff-view.ts";
import type { SandboxStatus } from "../../model/status.ts";
import { Sandbox } from "../bound-sandbox.ts";
import { type SandboxDescription, describeRecord } from "../describe-sandbox.ts";
import { type Engine, guardedOf, timestamp } from "../engine.ts";
import { withWholePlan } from "../plan-lock.ts";
import {
  type PlanCheckpointDescription,
  checkpointPlan,
  deletePlanCheckpoint,
  listPlanCheckpoints,
  restorePlan,
} from "../checkpoints/checkpoint-plan.ts";
import { type PlanCommitOptions, commitPlan } from "./commit-plan.ts";
import { type ForkOptions, forkPlan } from "./fork-plan.ts";
import { type PlanSize, measurePlan } from "./measure-plan.ts";
import { planDigest } from "./plan-digest.ts";
import { unknownPlan, unknownResource } from "./plan-members.ts";
import { type PlanPromise, promiseOf } from "./plan-promise.ts";
import {
  type PlanReport,
  type PlanUndoPreview,
  cleanupPlan,
  previewUndoPlan,
  rollbackPlan,
  undoPlan,
} from "./rollback-plan.ts";

import { type PlanRunOptions, type PlanRunResult, runInPlan } from "./run-in-plan.ts";

/** What a commit of a plan would do, by resource id. */
export interface PlanDiff {
  readonly planId: string;
  readonly resources: Readonly<Record<string, DiffView>>;
  readonly isEmpty: boolean;
  /** Over all changes of all resources: `commit({ expect: digest })` publishes exactly these or nothing. */
  readonly digest: string;
}

/** What is known about a plan. */
export interface PlanDescription {
  readonly planId: string;
  /** Whether it outlives its owners; else it counts as abandoned some time after the last of them has ended. */
  readonly kept: boolean;
  /** What a commit promises. */
  readonly promise: PlanPromise;
  /** In the order of their creation. */
  readonly sandboxes: readonly SandboxDescription[];
}

/**
 * Several sandboxes that are committed together or not at all. Holds nothing open: every call looks at what is on disk,
 * so another process can go on with the same plan by its id alone.
 */
export class Plan {
  readonly id: string;
  readonly #engine: Engine;

  constructor(engine: Engine, id: string) {
    this.id = id;
    this.#engine = engine;
  }

  /**
   * The sandbox of one resource of the plan.
   * @throws SandboxStateError when the plan has no such resource.
   */
  sandbox(resourceId: string): Sandbox {
    const record = this.#engine.store
      .list(this.id)
      .find(({ ref }) => ref.resourceId === resourceId);
    if (record !== undefined) return new Sandbox(this.#engine, record.ref);
    throw unknownResource(this.id, resourceId, "read");
  }

  /**
   * Lets the plan outlive its owners: it is never taken for abandoned, however old it gets.
   * @throws SandboxStateError when there is no such plan.
   */
  async keep(): Promise<void> {
    const at = timestamp(this.#engine);
    const kept = await withWholePlan(this.#engine, this.id, undefined, async () => {
      await this.#engine.owners.keep(this.id, at);
      return true;
    });
    if (kept === null) throw unknownPlan(this.id, "keep");
  }

  /** What is known about the plan, and what its commit promises. */
  async describe(): Promise<PlanDescription> {
    const records = this.#engine.store.list(this.id);
    const members = await Promise.all(
      records.map(async ({ ref }) => {
        const { raw } = await guardedOf(this.#engine, ref.strategyName);
        const { sandboxId, resourceId } = ref;
        return { sandboxId, resourceId, capabilities: capabilitiesOf(raw, ref) };
      }),
    );
    const sandboxes = records.map(describeRecord);
    const kept = this.#engine.owners.isKept(this.id);
    return { planId: this.id, kept, promise: promiseOf(members), sandboxes };
  }

  /**
   * The room that the plan takes on disk: workspaces, checkpoints, undo data and logs. Content that is shared with the
   * resource, as in reflinks, counts as if it were not. Changes nothing.
   */
  measure(): Promise<PlanSize> {
    return measurePlan(this.#engine, this.id);
  }

  /**
   * What a commit would do, of all sandboxes at one moment. Changes nothing.
   * @throws SandboxStateError (`SANDBOX_STATE`) while one of them is interrupted or `ERRORED`: nobody can tell then.
   */
  async diff(options?: DiffOptions): Promise<PlanDiff> {
    const views =
      (await withWholePlan(this.#engine, this.id, options?.signal, () => this.#views(options))) ??
      new Map<string, DiffView>();
    const digests = new Map([...views].map(([id, { digest }]) => [id, digest]));
    const resources = Object.fromEntries(views);
    const isEmpty = [...views.values()].every((view) => view.isEmpty);
    return { planId: this.id, resources, isEmpty, digest: planDigest(digests) };
  }

  /** Takes the edits at some paths of a resource back; see `Sandbox.drop`. */
  drop(resourceId: string, paths: readonly PathInput[], options?: CallOptions): Promise<void> {
    return this.sandbox(resourceId).drop(paths, options);
  }

  /** Settles conflicts at some paths of a resource, so that the next commit can go through; see `Sandbox.resolve`. */
  resolve(
    resourceId: string,
    paths: readonly PathInput[],
    how: Resolution,
    options?: CallOptions,
  ): Promise<void> {
    return this.sandbox(resourceId).resolve(paths, how, options);
  }

  /**
   * Publishes the changes of all sandboxes, all or nothing.
   * @throws AtomicCommitError with the whole report.
   */
  commit(options?: PlanCommitOptions): Promise<CommitReport> {
    return commitPlan(this.#engine, this.id, options);
  }

  /**
   * Takes the plan's commit back and keeps the edits, all or nothing.
   * @throws SandboxRollbackError naming what stands in the way.
   */
  undo(options?: CallOptions): Promise<PlanReport> {
    return undoPlan(this.#engine, this.id, options);
  }

  /** What `undo` would do, and what stands in the way. Changes nothing at the resources. */
  previewUndo(): Promise<PlanUndoPreview> {
    return previewUndoPlan(this.#engine, this.id);
  }

  /**
   * Keeps the present state of all sandboxes under one id, at one moment. These ids are the plan's own: they do not
   * meet those of its sandboxes.
   * @throws CheckpointError when one cannot be kept; then none is.
   */
  checkpoint(checkpointId: string, options?: CheckpointOptions): Promise<void> {
    return checkpointPlan(this.#engine, this.id, checkpointId, options);
  }

  /**
   * Brings all sandboxes back to a kept state, or none; the state before is kept automatically.
   * @throws CheckpointError when one cannot be restored; then the others are put back.
   */
  restoreCheckpoint(checkpointId: string, options?: CallOptions): Promise<void> {
    return restorePlan(this.#engine, this.id, checkpointId, options);
  }

  /** Drops one checkpoint of the plan. */
  deleteCheckpoint(checkpointId: string): Promise<void> {
    return deletePlanCheckpoint(this.#engine, this.id, checkpointId);
  }

  /** The checkpoints of the plan in the order of their creation. */
  checkpoints(): Promise<readonly PlanCheckpointDescription[]> {
    return Promise.resolve().then(() => listPlanCheckpoints(this.#engine, this.id));
  }

  /**
   * Makes a second plan with sandboxes of the same resources, which begin with the present state of this one's, or with
   * that of a checkpoint. From then on both go their own ways; what one commits is a conflict for the other where both
   * changed it.
   * @throws UnsupportedStrategyError when a strategy cannot fork, SandboxCreationError when there is such a plan already.
   */
  async fork(name: string, options?: ForkOptions): Promise<Plan> {
    await forkPlan(this.#engine, this.id, name, options);
    return new Plan(this.#engine, name);
  }

  /**
   * Runs a command that sees every sandbox of the plan at the real path of its resource, so that absolute paths, tools
   * and caches work unchanged. Against accidents, no prison: see docs/limits.md#not-a-security-boundary.
   * @throws PlanBusyError while another command runs in the plan.
   */
  run(argv: readonly string[], options?: PlanRunOptions): Promise<PlanRunResult> {
    return runInPlan(this.#engine, this.id, argv, options);
  }

  /** Discards all edits; what is committed is first made as it was before. */
  rollback(options?: CallOptions): Promise<PlanReport> {
    return rollbackPlan(this.#engine, this.id, options);
  }

  /** Frees everything that the plan owns; committed results stay. */
  cleanup(options?: CleanupOptions): Promise<PlanReport> {
    return cleanupPlan(this.#engine, this.id, options);
  }

  async #views(options: DiffOptions | undefined): Promise<Map<string, DiffView>> {
    const views = new Map<string, DiffView>();
    for (const { ref, status } of this.#engine.store.list(this.id)) {
      if (HAS_NOTHING.has(status)) continue;
      views.set(ref.resourceId, await new Sandbox(this.#engine, ref).diff(options));
    }
    return views;
  }
}

/** What is in these statuses has nothing for a commit to publish. */
const HAS_NOTHING: ReadonlySet<SandboxStatus> = new Set(["COMMITTED", "ROLLED_BACK", "CLEANED_UP"]);

/** A short id for a resource that was given by its path alone: its last name, unless another resource has that. */
export function idForPath(path: string, taken: ReadonlySet<string>): string {
  const name = basename(path) || path;
  return taken.has(name) ? path : name;
}
