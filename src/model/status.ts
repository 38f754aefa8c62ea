import { addToList } from "./add-to-list.ts";

/** Every status a sandbox can have. They are the same upper-case strings in the library, on disk and on the command line. */
export const SANDBOX_STATUSES = [
  "PENDING",
  "CREATED",
  "ACTIVE",
  "PREPARED",
  "COMMITTING",
  "COMMITTED",
  "ROLLING_BACK",
  "ROLLED_BACK",
  "ERRORED",
  "CLEANED_UP",
] as const;

/** The status of one sandbox. */
export type SandboxStatus = (typeof SANDBOX_STATUSES)[number];

/** What can be asked of a sandbox; the keys of `ALLOWED_FROM`. */
export type SandboxOperation =
  | "create"
  | "read"
  | "write"
  | "diff"
  | "getPath"
  | "list"
  | "remove"
  | "rename"
  | "drop"
  | "resolve"
  | "prepare"
  | "commit"
  | "rollback"
  | "undoCommit"
  | "checkpoint"
  | "restoreCheckpoint"
  | "cleanup"
  | "recover";

/** One arrow of the state machine. */
export interface Transition {
  readonly from: SandboxStatus;
  readonly to: SandboxStatus;
  /** The operation, or the event inside one, that moves a sandbox along this arrow. */
  readonly by: string;
}

const arrows = (from: readonly SandboxStatus[], to: SandboxStatus, by: string): Transition[] =>
  from.map((status) => ({ from: status, to, by }));

/** The state machine. Nothing moves a sandbox except along one of these; the diagram in the docs is made from it. */
export const TRANSITIONS: readonly Transition[] = [
  ...arrows(["PENDING"], "CREATED", "create"),
  ...arrows(["PENDING"], "ERRORED", "create failed"),
  ...arrows(["CREATED", "ROLLED_BACK"], "ACTIVE", "getPath, write, restore"),
  ...arrows(["CREATED", "ACTIVE"], "PREPARED", "prepare"),
  ...arrows(["PREPARED"], "ACTIVE", "abandoned before the decision"),
  ...arrows(["CREATED", "ACTIVE", "PREPARED"], "COMMITTING", "commit"),
  ...arrows(["COMMITTING"], "COMMITTED", "commit"),
  ...arrows(["COMMITTING"], "ACTIVE", "commit failed, original as before"),
  ...arrows(["CREATED", "ACTIVE", "COMMITTED"], "ROLLING_BACK", "rollback"),
  ...arrows(["ROLLING_BACK"], "ROLLED_BACK", "rollback"),
  ...arrows(["ROLLING_BACK"], "ACTIVE", "discard failed, edits as before"),
  ...arrows(["ROLLING_BACK"], "CREATED", "rollback refused, nothing was done"),
  ...arrows(["ROLLING_BACK"], "COMMITTED", "undo refused, original as committed"),
  ...arrows(["COMMITTED"], "ACTIVE", "undoCommit"),
  ...arrows(["COMMITTING", "ROLLING_BACK", "ACTIVE"], "ERRORED", "unproven state"),
  ...arrows(["ERRORED"], "ACTIVE", "recover"),
  ...arrows(["ERRORED"], "ROLLED_BACK", "recover"),
  ...arrows(["ERRORED"], "COMMITTED", "recover"),
  ...arrows(
    [
      "PENDING",
      "CREATED",
      "ACTIVE",
      "PREPARED",
      "COMMITTED",
      "ROLLED_BACK",
      "ERRORED",
      "CLEANED_UP",
    ],
    "CLEANED_UP",
    "cleanup",
  ),
];

const USABLE = ["CREATED", "ACTIVE", "ROLLED_BACK"] as const;

/** From which statuses an operation may be called. */
export const ALLOWED_FROM = {
  create: ["PENDING"],
  read: ["CREATED", "ACTIVE", "PREPARED", "COMMITTED", "ROLLED_BACK"],
  list: ["CREATED", "ACTIVE", "PREPARED", "COMMITTED", "ROLLED_BACK"],
  diff: ["CREATED", "ACTIVE", "PREPARED", "COMMITTED", "ROLLED_BACK"],
  write: USABLE,
  getPath: USABLE,
  remove: USABLE,
  rename: USABLE,
  drop: USABLE,
  resolve: USABLE,
  prepare: ["CREATED", "ACTIVE"],
  commit: ["CREATED", "ACTIVE", "PREPARED"],
  rollback: ["CREATED", "ACTIVE", "COMMITTED"],
  undoCommit: ["COMMITTED"],
  checkpoint: USABLE,
  restoreCheckpoint: USABLE,
  cleanup: [
    "PENDING",
    "CREATED",
    "ACTIVE",
    "PREPARED",
    "COMMITTED",
    "ROLLED_BACK",
    "ERRORED",
    "CLEANED_UP",
  ],
  recover: ["ERRORED", "COMMITTING", "ROLLING_BACK", "PREPARED"],
} as const satisfies Record<SandboxOperation, readonly SandboxStatus[]>;

/** Whether the table has an arrow between the two. Staying where one is needs none. */
export function isTransition(from: SandboxStatus, to: SandboxStatus): boolean {
  return from === to || TRANSITIONS.some((arrow) => arrow.from === from && arrow.to === to);
}

/** Whether the operation may be called in this status. */
export function isAllowed(operation: SandboxOperation, status: SandboxStatus): boolean {
  return (ALLOWED_FROM[operation] as readonly SandboxStatus[]).includes(status);
}

/** The state machine as a Mermaid diagram, for the docs. */
export function renderStateDiagram(): string {
  const labels = new Map<string, string[]>();
  for (const { from, to, by } of TRANSITIONS) {
    const key = `${from} --> ${to}`;
    addToList(labels, key, by);
  }
  const lines = [...labels].map(([arrow, by]) => `  ${arrow}: ${by.join(" / ")}`);
  return ["stateDiagram-v2", "  [*] --> PENDING", ...lines, "  CLEANED_UP --> [*]"].join("\n");
}
