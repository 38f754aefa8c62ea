import { SandboxStateError } from "../light.ts";

/** Refuses a call on a plan with a sandbox of which nobody can tell what it has; `or` is what else can be done. */
export function unsettled(
  { planId, resourceId }: { readonly planId: string; readonly resourceId: string },
  attempted: "cleanup" | "rollback",
  or = "",
): SandboxStateError {
  return new SandboxStateError(`${resourceId} is ERRORED: nobody can tell what it has`, {
    data: { status: "ERRORED", attempted, allowedFrom: [], reason: "status" },
    operation: attempted,
    planId,
    resourceId,
    hint: `\`coffer recover\` settles it, or says what it waits for${or}.`,
  });
}
