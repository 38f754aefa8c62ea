import {
  SandboxStateError,
  UnsupportedStrategyError,
  closestName,
  openCofferdam,
} from "../light.ts";
import type { Cofferdam, Plan, Sandbox, SandboxDescription, SandboxEvent } from "../index.ts";
import type { Call } from "./call.ts";
import { findMember, refuseAddress } from "./resource-argument.ts";

/** How a command wants the state directory. */
export interface OpenFor {
  /** Only to look: what a crash interrupted is left as it is, and told. */
  readonly looking?: boolean;
  readonly onEvent?: (event: SandboxEvent) => void;
}

/** Whoever holds a plan for longer is at work in it, and people rather hear that than wait. */
const LOCK_TIMEOUT_MS = 10_000;

/** Opens the state directory that the call means. Whoever opens it closes it. */
export async function openFor(
  call: Call,
  { looking = false, onEvent }: OpenFor = {},
): Promise<Cofferdam> {
  const cofferdam = await openCofferdam({
    ...call.places,
    limits: { lockTimeoutMs: LOCK_TIMEOUT_MS },
    ...(looking && { recover: "report" as const }),
    ...(onEvent !== undefined && { onEvent }),
  });
  const { interrupted, recovery } = cofferdam.opening;
  // Work of processes that live may be among it.
  if (looking && interrupted.transactions.length + interrupted.sandboxes.length > 0)
    call.tell("Work is under way or was interrupted: `coffer recover` settles what was.");
  const { transactions = [], sandboxes = [], complete = true } = recovery ?? {};
  const settled = transactions.filter(({ outcome }) => outcome !== "busy");
  if (settled.length + sandboxes.length > 0)
    call.tell(
      complete
        ? "Work that was interrupted has been recovered."
        : "Work was interrupted, and not all of it can be settled now: `coffer recover` says why.",
    );
  return cofferdam;
}

/** Whether the strategy of one of these sandboxes offers something. */
export async function isOffered(
  cofferdam: Cofferdam,
  sandboxes: readonly Pick<SandboxDescription, "ref">[],
  capability: "drops" | "encloses" | "queries",
): Promise<boolean> {
  for (const { ref } of sandboxes) {
    const { capabilities } = await cofferdam.registry.resolve(ref.strategyName);
    if (capabilities?.[capability] === true) return true;
  }
  return false;
}

/** A plan that is there, with its sandboxes. */
export interface KnownPlan {
  readonly plan: Plan;
  readonly sandboxes: readonly SandboxDescription[];
}

/**
 * The plan that the call names.
 * @throws SandboxStateError (`unknownPlan`) that names the closest plan.
 */
export async function knownPlan(cofferdam: Cofferdam, planId: string): Promise<KnownPlan> {
  const sandboxes = await cofferdam.list(planId);
  if (sandboxes.length > 0) return { plan: await cofferdam.plan(planId), sandboxes };
  const ids = new Set((await cofferdam.list()).map(({ ref }) => ref.planId));
  const meant = closestName(planId, ids);
  throw new SandboxStateError(`There is no plan ${JSON.stringify(planId)}`, {
    data: { status: "PENDING", attempted: "read", allowedFrom: [], reason: "unknownPlan" },
    operation: "read",
    planId,
    hint: `${meant === null ? "" : `Did you mean ${meant}? `}\`coffer list\` shows the plans.`,
  });
}

/**
 * The sandbox that a RESOURCE of the call means within a plan.
 * @throws SandboxStateError (`unknownRef`) that names the resources of the plan; UsageError for the URL of a server.
 */
export function memberOf({ plan, sandboxes }: KnownPlan, resource: string): SandboxDescription {
  const found = findMember(resource, sandboxes);
  if (found !== undefined) return found;
  refuseAddress(resource);
  const ids = sandboxes.map(({ ref }) => ref.resourceId);
  throw new SandboxStateError(`The plan has no resource ${JSON.stringify(resource)}`, {
    data: { status: "PENDING", attempted: "read", allowedFrom: [], reason: "unknownRef" },
    operation: "read",
    planId: plan.id,
    resourceId: resource,
    hint: `Its resources are ${ids.join(", ")}.`,
  });
}

/** The workspace of a sandbox; null where its strategy, or this moment, has none. */
export async function workspaceOf(sandbox: Sandbox, signal?: AbortSignal): Promise<string | null> {
  try {
    return await sandbox.getPath("", signal === undefined ? {} : { signal });
  } catch (error) {
    if (error instanceof UnsupportedStrategyError) return null;
    throw error;
  }
}
