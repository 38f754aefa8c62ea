import type { CallOptions } from "../../contract/strategy.ts";
import {
  SandboxCreationError,
  SandboxError,
  UnsupportedStrategyError,
  describeThrown,
} from "../../errors/index.ts";
import type { Creation } from "../../journal/creation-record.ts";
import type { KeptMember } from "../../journal/plan-checkpoints.ts";
import type { PlanDraft } from "../../journal/plan-draft.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import { findCheckpoint, refuseMalformed } from "../checkpoints/checkpoint-list.ts";
import { refuseOtherMembers } from "../checkpoints/checkpoint-plan.ts";
import { dropKept, keepAll, repaired } from "../checkpoints/plan-checkpoint-call.ts";
import { checkedRef, newRecord } from "../create-sandbox.ts";
import { claimPlan } from "../claim-plan.ts";
import type { Engine } from "../engine.ts";
import { holdSignals } from "../hold-signals.ts";
import { assertAllowed } from "../known-record.ts";
import { withQuietPlan } from "../plan-lock.ts";
import { refusePasswords } from "../refuse-passwords.ts";
import { inContext, refuseAborted, tracked } from "../with-sandbox.ts";
import { type PlanMember, planMembers, unknownPlan } from "./plan-members.ts";

/** Options of `fork`. */
export interface ForkOptions extends CallOptions {
  /** Id of a checkpoint of the plan; the present state unless given. */
  readonly from?: string;
}

/** One sandbox of the new plan. */
interface Forked {
  readonly member: PlanMember;
  readonly creation: Creation;
  /** Null until it is made. */
  readonly ref: SandboxRef | null;
}

/**
 * Makes a second plan whose sandboxes begin with what those of the first hold now, or held at a checkpoint. It appears
 * with all of them or not at all, also when the process is killed at any moment.
 * @throws UnsupportedStrategyError before anything, SandboxCreationError, CheckpointError, SandboxStateError
 */
export function forkPlan(
  engine: Engine,
  planId: string,
  name: string,
  options: ForkOptions = {},
): Promise<void> {
  return tracked(engine, async () => {
    try {
      refuseAborted(options.signal, "fork");
      checkName(name);
      if (options.from !== undefined) refuseMalformed(options.from);
      const done = await withQuietPlan(engine, planId, options.signal, async () => {
        using _hold = holdSignals();
        await new PlanFork(engine, planId, name, options).run();
        return true;
      });
      if (done === null) throw unknownPlan(planId, "fork");
    } catch (thrown) {
      throw asForkError(thrown).inContext({ planId });
    }
  });
}

class PlanFork {
  readonly #engine: Engine;
  readonly #planId: string;
  readonly #name: string;
  readonly #from: string | undefined;
  readonly #options: CallOptions;
  readonly #forked: Forked[] = [];

  constructor(engine: Engine, planId: string, name: string, { from, ...options }: ForkOptions) {
    this.#engine = engine;
    this.#planId = planId;
    this.#name = name;
    this.#from = from;
    this.#options = options;
  }

  async run(): Promise<void> {
    const engine = this.#engine;
    if (engine.store.hasPlan(this.#name)) throw exists(this.#name);
    const found = await planMembers(engine, this.#planId);
    for (const member of found) refuseUnable(member);
    const members = await repaired(found);
    const kept = await this.#kept(members);
    try {
      await this.#make(members, kept);
    } finally {
      if (this.#from === undefined) await dropKept(members, kept);
    }
    for (const { creation, ref } of this.#forked) {
      engine.store.endCreation(creation);
      const { planId, strategyName, resource } = creation;
      const { sandboxId } = ref ?? creation;
      const data = { planId, resourceId: resource.resourceId, strategyName, sandboxId };
      engine.emit("sandbox.created", data);
    }
    engine.emit("plan.forked", { planId: this.#planId, fork: this.#name });
  }

  /** The states to begin with: those of the checkpoint, or present ones that are kept for as long as the fork takes. */
  #kept(members: readonly PlanMember[]): Promise<readonly KeptMember[]> {
    if (this.#from === undefined) {
      const options = this.#options;
      return keepAll({ checkpointId: this.#name, operation: "checkpoint", options }, members);
    }
    const list = this.#engine.store.planCheckpoints(this.#planId);
    const target = findCheckpoint(list, this.#from);
    refuseOtherMembers(members, target);
    return Promise.resolve(target.members);
  }

  async #make(members: readonly PlanMember[], kept: readonly KeptMember[]): Promise<void> {
    await using draft = await this.#engine.store.draftPlan(this.#name);
    try {
      for (const member of members) {
        const own = kept.find(({ sandboxId }) => sandboxId === member.sandboxId);
        await this.#fork(draft, member, own?.storage ?? "");
      }
      if (!(await draft.publish())) throw exists(this.#name);
      await claimPlan(this.#engine, this.#name);
    } catch (thrown) {
      if (!draft.isPublished) await this.#discard(draft);
      throw thrown;
    } finally {
      for (const { creation } of this.#forked) this.#engine.pending.delete(creation);
    }
  }

  async #fork(draft: PlanDraft, member: PlanMember, storage: string): Promise<void> {
    const engine = this.#engine;
    const { guarded, record } = member;
    const { resource, sequence, ref: source } = record;
    const strategyName = guarded.name;
    const creation = {
      planId: this.#name,
      resource,
      sandboxId: engine.ids.next(),
      strategyName,
    };
    engine.pending.add(creation);
    const at = this.#forked.push({ member, creation, ref: null }) - 1;
    // Before anything exists: whatever a dead process leaves can be found by it.
    await draft.beginCreation(creation);
    try {
      const made = await guarded.raw.fork?.(source, storage, this.#name, this.#options);
      const expected = { planId: this.#name, resource, name: strategyName };
      const ref = checkedRef(made, { ...expected, chosenBy: source.chosenBy });
      this.#forked[at] = { member, creation, ref };
      await draft.put(newRecord(engine, ref, resource, sequence));
    } catch (thrown) {
      throw inContext(asForkError(thrown), source);
    }
  }

  /** Removes everything that was made; where that fails, the draft stays and the next opening tries again. */
  async #discard(draft: PlanDraft): Promise<void> {
    try {
      for (const { member, creation, ref } of this.#forked.toReversed()) {
        const { raw } = member.guarded;
        if (ref !== null) await raw.cleanup(ref);
        await raw.discardCreation?.(creation.planId, creation.resource, creation.sandboxId);
      }
      draft.remove();
    } catch (thrown) {
      const data = { planId: this.#name, reason: describeThrown(thrown) };
      this.#engine.emit("creation.kept", data, "warning");
    }
  }
}

function refuseUnable({ record, guarded, capabilities }: PlanMember): void {
  const { ref, resource } = record;
  const isAble = capabilities.forks && capabilities.checkpoints !== "none";
  if (isAble && guarded.raw.fork !== undefined) return assertAllowed(record, "checkpoint");
  const error = new UnsupportedStrategyError(`The strategy ${guarded.name} cannot fork a sandbox`, {
    data: { resourceType: resource.type, strategyName: guarded.name, allowed: [] },
    operation: "fork",
    hint: "Use a strategy that declares the capability forks.",
  });
  throw inContext(error, ref);
}

function checkName(name: unknown): void {
  refusePasswords({ planId: name });
  if (typeof name === "string" && name !== "") return;
  throw new SandboxCreationError("The name of a fork must be non-empty text", {
    data: { stage: "arguments", residue: [] },
    operation: "fork",
  });
}

function exists(name: string): SandboxCreationError {
  return new SandboxCreationError(`There is a plan ${JSON.stringify(name)} already`, {
    data: { stage: "exists", residue: [] },
    operation: "fork",
    hint: "Choose another name, or clean that plan up first.",
  });
}

function asForkError(thrown: unknown): SandboxError {
  if (thrown instanceof SandboxError) return thrown;
  return new SandboxCreationError(`The plan could not be forked: ${describeThrown(thrown)}`, {
    data: { stage: "fork", residue: [] },
    operation: "fork",
    cause: thrown,
  });
}
