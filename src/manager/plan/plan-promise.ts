import type { DeclaredCapabilities } from "../../contract/capabilities.ts";

/**
 * What a strategy can do for all or nothing.
 *
 * - `twoPhase`: prepares, then follows the decision whatever happens.
 * - `undoable`: cannot prepare, but takes a commit back: committed before the decision, undone if it is not to be.
 * - `deciding`: cannot prepare, but its own commit can be the decision.
 * - `irrevocable`: none of these.
 */
export type MemberClass = "twoPhase" | "undoable" | "deciding" | "irrevocable";

/** One sandbox of a plan, as far as promises go. */
export interface PromisedMember {
  readonly sandboxId: string;
  readonly resourceId: string;
  readonly capabilities: DeclaredCapabilities;
}

/** A sandbox that keeps a plan from being all or nothing. */
export interface Blocker {
  readonly sandboxId: string;
  readonly resourceId: string;
  readonly why: string;
}

/**
 * What can be promised for a plan: `atomic`, also with members whose own commit is the decision (`lastResource` names
 * them), or `bestEffort`, safe against errors but not against a crash.
 */
export interface PlanPromise {
  readonly level: "atomic" | "lastResource" | "bestEffort";
  readonly lastResource: readonly string[];
  readonly blockers: readonly Blocker[];
}

/** What a strategy's promises make of its sandboxes. */
export function classOf(capabilities: DeclaredCapabilities): MemberClass {
  if (capabilities.prepare) return "twoPhase";
  if (capabilities.decides !== null) return "deciding";
  return capabilities.undoCommit ? "undoable" : "irrevocable";
}

/** What can be promised for these sandboxes together. A sandbox alone never stands in its own way. */
export function promiseOf(members: readonly PromisedMember[]): PlanPromise {
  const deciding = members.filter(({ capabilities }) => classOf(capabilities) === "deciding");
  const blockers = members.length < 2 ? [] : [...alone(members), ...crowded(deciding)];
  const lastResource = deciding.map(({ resourceId }) => resourceId);
  if (blockers.length > 0) return { level: "bestEffort", lastResource, blockers };
  return { level: deciding.length > 0 ? "lastResource" : "atomic", lastResource, blockers };
}

function alone(members: readonly PromisedMember[]): Blocker[] {
  return members.flatMap((member): Blocker[] => {
    const { sandboxId, resourceId, capabilities } = member;
    if (capabilities.isolation === "none") {
      return [{ sandboxId, resourceId, why: "its edits take effect at once" }];
    }
    if (classOf(capabilities) !== "irrevocable") return [];
    return [{ sandboxId, resourceId, why: "its commit can be neither prepared nor taken back" }];
  });
}

/** Only one group can carry the decision, and only as many members as it says. */
function crowded(deciding: readonly PromisedMember[]): Blocker[] {
  const [first] = deciding;
  const group = first?.capabilities.decides;
  if (group === undefined || group === null) return [];
  const others = deciding.filter(({ capabilities }) => capabilities.decides?.group !== group.group);
  const own = deciding.filter(({ capabilities }) => capabilities.decides?.group === group.group);
  return [...others, ...own.slice(group.max)].map(({ sandboxId, resourceId }) => ({
    sandboxId,
    resourceId,
    why: `only one commit can be the decision, and that is the one of ${first?.resourceId ?? ""}`,
  }));
}
