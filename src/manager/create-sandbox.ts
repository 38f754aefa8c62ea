import type { CallOptions } from "../contract/strategy.ts";
import {
  type ErrorContext,
  SandboxCreationError,
  SandboxError,
  describeThrown,
  errnoHint,
  findPassword,
} from "../errors/index.ts";
import type { Creation } from "../journal/creation-record.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { Resource, StrategyOrigin } from "../model/resource.ts";
import { REF_SCHEMA_VERSION, type SandboxRef } from "../model/sandbox-ref.ts";
import { frozenJson } from "./canonical-json.ts";
import { claimPlan } from "./claim-plan.ts";
import { type Engine, type Guarded, timestamp } from "./engine.ts";
import { lockNewPlan } from "./plan-lock.ts";
import { refuseOverlap } from "./refuse-overlap.ts";
import { refusePasswords } from "./refuse-passwords.ts";
import { discardCreation } from "./sweep-leftovers.ts";
import { refuseAborted, tracked } from "./with-sandbox.ts";

/** How a sandbox is created. */
export interface CreateCall extends CallOptions {
  /** Which setting picked the strategy. */
  readonly chosenBy: StrategyOrigin;
}

/**
 * Makes a sandbox and tracks it durably. A plan has one sandbox for each resource: asking again gives the same ref.
 * When it fails, for whatever reason, nothing is tracked and the strategy has removed what it made.
 */
export async function createSandbox(
  guarded: Guarded,
  planId: string,
  resource: Resource,
  { chosenBy, signal }: CreateCall,
): Promise<SandboxRef> {
  const { engine, name } = guarded;
  const context = { planId, resourceId: resource?.resourceId, strategyName: name };
  return tracked(engine, async () => {
    try {
      checkArguments(planId, resource);
      refuseAborted(signal, "create");
      await using _lock = await lockNewPlan(engine, planId, signal);
      const others = engine.store.list(planId);
      const existing = others.find(({ ref }) => ref.resourceId === resource.resourceId);
      const same = existing && sameSandbox(existing, resource, name);
      if (same !== undefined) return await claimed(engine, same);
      refuseOverlap(resource, others);
      const sequence = Math.max(0, ...others.map((record) => record.sequence)) + 1;
      try {
        const made = frozenJson(resource);
        const ref = await makeTracked(guarded, planId, made, sequence, chosenBy, signal);
        return await claimed(engine, ref);
      } catch (error) {
        await engine.store.removeIfEmpty(planId);
        throw error;
      }
    } catch (thrown) {
      const error = asCreationError(thrown, context);
      engine.emit("sandbox.creationFailed", { ...eventData(context), code: error.code }, "warning");
      throw error;
    }
  });
}

async function claimed(engine: Engine, ref: SandboxRef): Promise<SandboxRef> {
  await claimPlan(engine, ref.planId);
  return ref;
}

async function makeTracked(
  guarded: Guarded,
  planId: string,
  resource: Resource,
  sequence: number,
  chosenBy: StrategyOrigin,
  signal: AbortSignal | undefined,
): Promise<SandboxRef> {
  const { engine, raw, name } = guarded;
  const creation = { planId, resource, sandboxId: engine.ids.next(), strategyName: name };
  engine.pending.add(creation);
  try {
    // Before anything exists: whatever a dead process leaves can be found by it.
    await engine.store.beginCreation(creation);
    const made = await raw.create(planId, resource, signal === undefined ? {} : { signal });
    const ref = checkedRef(made, { planId, resource, name, chosenBy });
    await recordOrRemove(guarded, newRecord(engine, ref, resource, sequence));
    engine.store.endCreation(creation);
    engine.emit("sandbox.created", { ...eventData(ref), sandboxId: ref.sandboxId });
    return ref;
  } catch (error) {
    await discardIfPossible(guarded, creation);
    throw error;
  } finally {
    engine.pending.delete(creation);
  }
}

/** The strategy has removed what it made; where it could not, its own mark makes the next opening try again. */
async function discardIfPossible(guarded: Guarded, creation: Creation): Promise<void> {
  try {
    await discardCreation(guarded, creation);
  } catch (thrown) {
    const { planId, sandboxId } = creation;
    const data = { planId, sandboxId, reason: describeThrown(thrown) };
    guarded.engine.emit("creation.kept", data, "warning");
  }
}

/** Without a record nobody could ever find the sandbox again, so it goes when none can be written. */
async function recordOrRemove({ engine, raw }: Guarded, record: SandboxRecord): Promise<void> {
  try {
    await engine.store.put(record);
  } catch (cause) {
    const residue: string[] = [];
    try {
      await raw.cleanup(record.ref);
      // The record may be there although it is not sure to stay.
      await engine.store.remove(record.ref);
    } catch (thrown) {
      residue.push(`sandbox ${record.ref.sandboxId}: ${describeThrown(thrown)}`);
    }
    throw new SandboxCreationError(`The sandbox could not be recorded: ${describeThrown(cause)}`, {
      data: { stage: "record", residue },
      operation: "create",
      cause,
    });
  }
}

/** The first record of a sandbox. */
export function newRecord(
  engine: Engine,
  ref: SandboxRef,
  resource: Resource,
  sequence: number,
): SandboxRecord {
  return {
    ref,
    resource,
    status: "CREATED",
    sequence,
    lastError: null,
    workspaceStale: false,
    checkpoints: [],
    currentCheckpoint: null,
    inFlight: null,
    lastTransaction: null,
    lastResult: null,
    updatedAt: timestamp(engine),
  };
}

function sameSandbox(existing: SandboxRecord, resource: Resource, name: string): SandboxRef {
  const { ref } = existing;
  const isSame =
    ref.strategyName === name &&
    existing.resource.location === resource.location &&
    existing.resource.type === resource.type;
  if (isSame) return frozenJson(ref);
  const message = `The plan already has a sandbox for ${resource.resourceId}, by ${ref.strategyName} on ${existing.resource.location}`;
  throw creationError(message, "exists", "Clean that sandbox up first, or use another plan.");
}

function checkArguments(planId: unknown, resource: Partial<Resource> | null | undefined): void {
  const { resourceId, type, location } = resource ?? {};
  const problems = Object.entries({ planId, resourceId, type, location })
    .filter(([, value]) => typeof value !== "string" || value === "")
    .map(([field]) => field);
  refusePasswords({ planId, ...resource });
  if (problems.length === 0) return;
  const message = `These must be non-empty text: ${problems.join(", ")}`;
  throw creationError(
    message,
    "arguments",
    "Name a plan, and a resource with id, type and location.",
  );
}

/** A strategy's ref as JSON, checked: everything later relies on it. */
export function checkedRef(
  made: SandboxRef | undefined,
  expected: { planId: string; resource: Resource; name: string; chosenBy: StrategyOrigin },
): SandboxRef {
  const { planId, resource, name, chosenBy } = expected;
  const wanted = { planId, resourceId: resource.resourceId, strategyName: name };
  const fits =
    typeof made === "object" &&
    made !== null &&
    Object.entries(wanted).every(
      ([field, value]) => made[field as keyof typeof wanted] === value,
    ) &&
    made.schemaVersion === REF_SCHEMA_VERSION &&
    typeof made.sandboxId === "string" &&
    made.sandboxId !== "" &&
    typeof made.metadata === "object" &&
    findPassword(made) === null;
  if (fits) return frozenJson({ ...made, chosenBy });
  const message = `The strategy ${name} returned something that is not a ref of this sandbox`;
  throw creationError(message, "ref", "Make refs with host.newRef, and without a password.");
}

function asCreationError(thrown: unknown, context: ErrorContext): SandboxError {
  if (thrown instanceof SandboxError) return thrown.inContext(context);
  return new SandboxCreationError(`The sandbox could not be made: ${describeThrown(thrown)}`, {
    ...context,
    data: { stage: "create", residue: [] },
    operation: "create",
    hint: errnoHint(thrown),
    cause: thrown,
  });
}

function creationError(message: string, stage: string, hint: string): SandboxCreationError {
  return new SandboxCreationError(message, {
    data: { stage, residue: [] },
    operation: "create",
    hint,
  });
}

function eventData({ planId, resourceId, strategyName }: ErrorContext): Record<string, string> {
  return {
    planId: String(planId),
    resourceId: String(resourceId),
    strategyName: String(strategyName),
  };
}
