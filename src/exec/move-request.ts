import type { Outside } from "./outside.ts";
import type { ShownSandbox } from "./shown-sandbox.ts";

/** What is known of a view in which repositories are seen at other places. */
export interface MoveRequest {
  /** The private folder of the run. */
  readonly folder: string;
  readonly sandboxes: readonly ShownSandbox[];
  readonly outside: Outside;
  /** The state directory, which the command does not see. */
  readonly state: string;
  /** Further folders that it does not see. */
  readonly masked: readonly string[];
}
