import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { CofferConfig } from "../config/config.ts";
import type { CallOptions, SandboxStrategy } from "../contract/strategy.ts";
import { SandboxCreationError, describeThrown } from "../errors/index.ts";
import { type KnownArea, listAreas } from "../journal/area-list.ts";
import { locatePath } from "../journal/resource-root.ts";
import type { Done } from "../journal/transaction-record.ts";
import type { Resource } from "../model/resource.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import type { SandboxStatus } from "../model/status.ts";
import { hasPathLocation } from "../model/strategy-names.ts";
import { chooseStrategy } from "../registry/choose-strategy.ts";
import type { StartUpReport } from "../registry/load-custom-strategies.ts";
import type { StrategyRegistry } from "../registry/strategy-registry.ts";
import { Sandbox } from "./bound-sandbox.ts";
import { claimPlan } from "./claim-plan.ts";
import { closeStrategies } from "./close-strategies.ts";
import { createSandbox } from "./create-sandbox.ts";
import { type SandboxDescription, describeRecord } from "./describe-sandbox.ts";
import { type Engine, type UndoLimits, guardedOf } from "./engine.ts";
import { type StrategiesReport, inspectStrategies } from "./inspect-strategies.ts";
import { findRecord, knownRecord } from "./known-record.ts";
import { type InterruptedWork, type RecoveryReport, findInterrupted, recover } from "./recover.ts";
import {
  type AbandonedOptions,
  type AbandonedReport,
  cleanupAbandoned,
} from "./plan/cleanup-abandoned.ts";
import { Plan, idForPath } from "./plan/plan.ts";
import { type PruneReport, prune } from "./undo-retention.ts";
import { tracked } from "./with-sandbox.ts";
import { removeOrTell } from "./remove-or-tell.ts";
import { refusePasswords } from "./refuse-passwords.ts";

/** Options of `create`. */
export interface CreateOptions extends CallOptions {
  /** Strategy for this one sandbox: a built-in, a registered name, or `module:ClassName`. */
  readonly strategy?: string;
}

/** A resource of a plan. */
export interface PlanResource extends Omit<Resource, "resourceId"> {
  /** Unique within the plan. */
  readonly id: string;
}

/** A finished transaction, as history tells it. */
export interface FinishedTransaction extends Omit<Done, "members"> {
  readonly transaction: string;
  readonly members: readonly Pick<Done["members"][number], "ref" | "result">[];
}

/** What was found and done while opening. */
export interface Opening {
  readonly config: CofferConfig;
  readonly strategies: StartUpReport;
  /** What was interrupted when this instance was opened. */
  readonly interrupted: InterruptedWork;
  /** What became of it; null when it was only reported. */
  readonly recovery: RecoveryReport | null;
}

/**
 * The sandboxes of one state directory. Several instances, in one or several processes, may use the same one at the same
 * time. Made by `openCofferdam`; whoever opens it closes it.
 *
 * - Calls that look run side by side.
 * - Calls that change a plan run one after the other, also between processes.
 * - Different plans do not wait for each other, except for commits to the same resource.
 * - Two plans commit to one resource one after the other; what both changed is a conflict for the second.
 * - A lock is free as soon as its holder ends, however it ends.
 * - A call that waits too long is refused.
 *
 * What proves each of these, and what else is promised, is in docs/guarantees.md.
 */
export class Cofferdam implements AsyncDisposable {
  /** The strategies by name; custom ones are registered here. */
  readonly registry: StrategyRegistry;
  readonly config: CofferConfig;
  /** Absolute path of the state directory. */
  readonly stateDirectory: string;
  readonly opening: Opening;
  readonly #engine: Engine;

  constructor(engine: Engine, opening: Opening) {
    this.registry = engine.registry;
    this.config = opening.config;
    this.stateDirectory = engine.state.path;
    this.opening = opening;
    this.#engine = engine;
  }

  /**
   * Makes a sandbox of a resource for a plan, or gives the one that the plan has already. A text is the id of a
   * configured resource, else the path of a file or directory. What it costs depends on the strategy: see
   * docs/limits.md#cost. What is left out: see docs/limits.md#special-files.
   * @throws SandboxCreationError, UnsupportedStrategyError, StrategyNotFoundError, InsufficientSpaceError, …
   */
  async create(
    planId: string,
    resource: Resource | string,
    { strategy, ...options }: CreateOptions = {},
  ): Promise<SandboxRef> {
    return tracked(this.#engine, async () => {
      const wanted = this.#wanted(resource);
      const { name, chosenBy } = chooseStrategy(wanted, this.config, this.registry, strategy);
      const guarded = await guardedOf(this.#engine, name);
      return createSandbox(guarded, planId, wanted, { ...options, chosenBy });
    });
  }

  /**
   * A plan with sandboxes of these resources, made where the plan does not have them yet. A path gets its last name as
   * id. On failure the sandboxes that this call made are cleaned up again; what cannot be stays listed.
   * @throws as `create` does.
   */
  async plan(planId: string, resources: readonly (PlanResource | string)[] = []): Promise<Plan> {
    const known = new Map(
      this.#engine.store.list(planId).map(({ resource }) => [resource.resourceId, resource]),
    );
    const made: SandboxRef[] = [];
    try {
      for (const given of resources) {
        const wanted = this.#planResource(given, known);
        const isNew = !known.has(wanted.resourceId);
        const ref = await this.create(planId, wanted);
        known.set(wanted.resourceId, wanted);
        if (isNew) made.push(ref);
      }
    } catch (thrown) {
      for (const ref of made.toReversed()) {
        const what = `sandbox ${ref.sandboxId}`;
        await removeOrTell(this.#engine, what, () => this.sandbox(ref).cleanup());
      }
      throw thrown;
    }
    await claimPlan(this.#engine, planId);
    return new Plan(this.#engine, planId);
  }

  #planResource(given: PlanResource | string, known: ReadonlyMap<string, Resource>): Resource {
    if (typeof given !== "string") {
      const { id, ...rest } = given;
      return { ...rest, resourceId: id };
    }
    const found = this.#resourceOf(given);
    if (this.config.resources.has(given)) return found;
    const own = [...known.values()].find(({ location }) => location === found.location);
    return own ?? { ...found, resourceId: idForPath(found.location, new Set(known.keys())) };
  }

  /** One sandbox, bound to its ref. */
  sandbox(ref: SandboxRef): Sandbox {
    return new Sandbox(this.#engine, ref);
  }

  /**
   * The strategy of a built-in name, a registered name or `module:ClassName`.
   * @throws StrategyNotFoundError, StrategyLoadError, StrategyValidationError
   */
  strategy(name: string): Promise<SandboxStrategy> {
    return this.registry.resolve(name);
  }

  /**
   * The strategy that a sandbox was made with.
   * @throws SandboxStateError for a ref that is not genuine.
   */
  async strategyFor(ref: SandboxRef): Promise<SandboxStrategy> {
    const { strategyName } = knownRecord(this.#engine, ref, "read").ref;
    return this.registry.resolve(strategyName);
  }

  /**
   * Every strategy, and whether it works for a resource, which is named as for `create`. Each is tried at the place
   * where a sandbox would live; nothing is left behind.
   * @throws SandboxCreationError, UnsupportedStrategyError
   */
  async inspectStrategies(resource: Resource | string): Promise<StrategiesReport> {
    const wanted = this.#wanted(resource);
    return inspectStrategies(this.#engine, this.config, wanted);
  }

  /** What is known about a sandbox. */
  describe(ref: SandboxRef): Promise<SandboxDescription> {
    return this.sandbox(ref).describe();
  }

  /** The status of a sandbox; PENDING for one that is not known, as before `create` and after `cleanup`. */
  status(ref: SandboxRef): Promise<SandboxStatus> {
    return Promise.resolve().then(() =>
      findRecord(this.#engine, ref) === null
        ? "PENDING"
        : knownRecord(this.#engine, ref, "read").status,
    );
  }

  /** The sandboxes of one plan or of all, in the order of their creation; damaged records of other plans are told as events. */
  list(planId?: string): Promise<readonly SandboxDescription[]> {
    return Promise.resolve().then(() => {
      const { store, emit } = this.#engine;
      if (planId !== undefined) return store.list(planId).map(describeRecord);
      const { records, damaged } = store.listAll();
      for (const { data } of damaged) emit("record.damaged", { ...data }, "warning");
      return records.map(describeRecord);
    });
  }

  /** What is interrupted now, of living processes too. Changes nothing. */
  interrupted(): Promise<InterruptedWork> {
    return Promise.resolve().then(() => findInterrupted(this.#engine));
  }

  /**
   * Finishes or takes back everything that was interrupted, and nothing whose owner lives. What it cannot do: see
   * docs/limits.md#what-recovery-cannot-do.
   */
  recover(): Promise<RecoveryReport> {
    return recover(this.#engine);
  }

  /**
   * Frees everything that abandoned plans own: those that nobody keeps, whose owners have all ended, and that are idle
   * for longer than the lease. Interrupted work is recovered first; what fails is told and keeps nothing else back.
   */
  cleanupAbandoned(options?: AbandonedOptions): Promise<AbandonedReport> {
    return cleanupAbandoned(this.#engine, options);
  }

  /**
   * Gives up undo data and history that are older, or more, than the configuration allows, or than is said here. It also
   * happens by itself, at opening and after commits. What was given up cannot be taken back any more.
   */
  prune(limits: Partial<UndoLimits> = {}): Promise<PruneReport> {
    return tracked(this.#engine, () =>
      prune(this.#engine, { ...this.#engine.undo.limits, ...limits }),
    );
  }

  /** The finished transactions, oldest first. */
  history(): Promise<readonly FinishedTransaction[]> {
    return Promise.resolve().then(() => {
      const { log } = this.#engine;
      return log.history().flatMap((transaction) => {
        const done = log.outcomeOf(transaction);
        if (done === null) return [];
        const members = done.members.map(({ ref, result }) => ({ ref, result }));
        return [{ ...done, transaction, members }];
      });
    });
  }

  /** The private places on other devices that this installation has used. */
  areas(): Promise<readonly KnownArea[]> {
    return Promise.resolve().then(() => listAreas(this.#engine.state.path));
  }

  /** Waits for calls that are under way. Sandboxes stay; they live on disk, and this instance owns them no longer. */
  async close(): Promise<void> {
    while (this.#engine.running.size > 0) await Promise.allSettled(this.#engine.running);
    // Whoever waits for one of these calls hears of its end first.
    await setImmediate();
    await closeStrategies(this.#engine);
    await this.#engine.owners.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #wanted(resource: Resource | string): Resource {
    // Before it is taken for a path, which would change it beyond recognition.
    refusePasswords(typeof resource === "string" ? { resource } : resource);
    return typeof resource === "string" ? this.#resourceOf(resource) : absolute(resource);
  }

  #resourceOf(text: string): Resource {
    const configured = this.config.resources.get(text);
    if (configured !== undefined) return configured;
    try {
      const { path, type } = locatePath(text);
      return { resourceId: path, type, location: path };
    } catch (cause) {
      throw new SandboxCreationError(`${text} cannot be used: ${describeThrown(cause)}`, {
        data: { stage: "resource", residue: [] },
        operation: "create",
        hint: "Name an existing file or directory, or a resource of the configuration.",
        cause,
      });
    }
  }
}

function absolute(resource: Resource): Resource {
  if (!hasPathLocation(resource.type)) return resource;
  return { ...resource, location: resolve(resource.location) };
}
