import { SandboxStateError } from "../../errors/index.ts";
import type { SandboxRecord } from "../../journal/sandbox-record.ts";

/** A sandbox of a plan that takes its place in an order. */
export interface Ordered {
  readonly record: SandboxRecord;
  /** Whether its commit can never be taken back: such ones come last. */
  readonly isIrrevocable: boolean;
}

/**
 * The order of a commit: children before the resources that contain them, otherwise by number of creation, and what can
 * never be taken back after everything else. Undo goes the other way.
 * @throws SandboxStateError (`SANDBOX_STATE`, reason `circle`) when resources contain each other.
 */
export function commitOrder<T extends Ordered>(members: readonly T[]): T[] {
  const bySequence = members.toSorted((a, b) => a.record.sequence - b.record.sequence);
  const ordered: T[] = [];
  const state = new Map<T, "open" | "done">();
  const visit = (member: T): void => {
    if (state.get(member) === "done") return;
    if (state.get(member) === "open") throw circle(member.record);
    state.set(member, "open");
    for (const child of childrenOf(member, bySequence)) visit(child);
    state.set(member, "done");
    ordered.push(member);
  };
  for (const member of bySequence) visit(member);
  return [
    ...ordered.filter(({ isIrrevocable }) => !isIrrevocable),
    ...ordered.filter(({ isIrrevocable }) => isIrrevocable),
  ];
}

function childrenOf<T extends Ordered>({ record }: T, members: readonly T[]): T[] {
  const { resourceId } = record.resource;
  return members.filter((other) => other.record.resource.parents?.includes(resourceId) === true);
}

function circle({ ref, status }: SandboxRecord): SandboxStateError {
  const message = `The resource ${ref.resourceId} contains itself by way of its parents`;
  return new SandboxStateError(message, {
    data: { status, attempted: "commit", allowedFrom: [], reason: "circle" },
    operation: "commit",
    planId: ref.planId,
    resourceId: ref.resourceId,
    sandboxId: ref.sandboxId,
    hint: "Correct `parents` of the resources, then make the plan anew.",
  });
}
