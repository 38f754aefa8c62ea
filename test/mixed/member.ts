import type { Sandbox } from "../../src/index.ts";
import type { DatabaseServer } from "../support/database-server.ts";

/** One real resource of a mixed plan. */
export interface Member {
  readonly id: string;
  readonly type: string;
  readonly location: string;
  readonly sandboxStrategy?: string;
  /** Lines of the configuration for its connection. */
  readonly connection?: string;
  /** Whether its own commit is the decision of a plan, because it cannot prepare. */
  readonly isLastResource?: boolean;
  /** Edits the sandbox, for the first or a further time. */
  readonly edit: (sandbox: Sandbox, value: "new" | "later") => Promise<unknown>;
  /** Everything about the resource that a commit could change, as foreign programs see it. */
  readonly look: () => string;
  /** What the resource has where the sandbox was edited. */
  readonly value: () => string;
  /** Changes the same place as somebody else, so that a commit cannot succeed. */
  readonly disturb: () => void;
}

/** Where members are made. */
export interface Yard {
  readonly folder: string;
  readonly servers: Readonly<Record<"postgres" | "mariadb", DatabaseServer>>;
}
