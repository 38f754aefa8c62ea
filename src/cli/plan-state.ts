import type { SandboxDescription } from "../index.ts";

/** How a plan stands as a whole. */
export type PlanState =
  | "open"
  | "committed"
  | "partly-committed"
  | "rolled-back"
  /** A crash or a failure cut something short: `coffer recover` settles it. */
  | "interrupted"
  /** Something could be neither finished nor taken back. */
  | "errored";

/** How a plan stands, told from its sandboxes. */
export function stateOf(
  sandboxes: readonly Pick<SandboxDescription, "status" | "interrupted">[],
): PlanState {
  const statuses = new Set(sandboxes.map(({ status }) => status));
  const has = (...wanted: readonly SandboxDescription["status"][]): boolean =>
    wanted.some((status) => statuses.has(status));
  if (has("ERRORED")) return "errored";
  if (sandboxes.some(({ interrupted }) => interrupted)) return "interrupted";
  if (has("COMMITTED")) return has("CREATED", "ACTIVE") ? "partly-committed" : "committed";
  return has("ROLLED_BACK") && !has("CREATED", "ACTIVE") ? "rolled-back" : "open";
}
