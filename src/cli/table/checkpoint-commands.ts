import type { CommandSpec } from "../command.ts";
import { CHANGED, PLAN } from "./arguments.ts";

const GROUP = "Go back and forth";

/** Commands that keep states of a plan and come back to them. */
export const CHECKPOINT_COMMANDS: readonly CommandSpec[] = [
  {
    name: "checkpoint",
    group: GROUP,
    arguments: [
      PLAN,
      { name: "NAME", description: "the next of c1, c2, … unless given", isOptional: true },
    ],
    options: [],
    summary: "keep the present state of a plan",
    details: "All resources of the plan at one moment.",
    examples: [["coffer checkpoint try before-upgrade", "keep it under a name"]],
    load: async () => (await import("../commands/checkpoint.ts")).makeCheckpoint,
  },
  {
    name: "checkpoints",
    group: GROUP,
    arguments: [PLAN],
    options: [],
    summary: "list the kept states of a plan",
    details: "",
    examples: [["coffer checkpoints try", "which there are"]],
    load: async () => (await import("../commands/checkpoints.ts")).listCheckpoints,
  },
  {
    name: "restore",
    group: GROUP,
    arguments: [PLAN, { name: "NAME", description: "a checkpoint of the plan" }],
    options: [],
    summary: "bring a plan back to a kept state",
    details: "All resources or none. The state before is kept too, so that it can be taken back.",
    examples: [["coffer restore try before-upgrade", "forget what came after it"]],
    load: async () => (await import("../commands/restore.ts")).restore,
  },
  {
    name: "drop",
    group: GROUP,
    arguments: [PLAN, CHANGED],
    options: [],
    summary: "take single edits of a plan back, and keep the rest",
    details:
      "The sandbox has there what the real resource has now, or for git the commit that it started from. " +
      "A folder means everything below it, and one end of a rename means both. Checkpoints keep what they have. " +
      "A database has no single edits to take back: restore a checkpoint, or change its rows with coffer sql.",
    examples: [
      ["coffer drop try package-lock.json", "accept everything else"],
      ["coffer drop try site:src/old api:README.md", "in two resources"],
    ],
    load: async () => (await import("../commands/drop.ts")).drop,
  },
  {
    name: "resolve",
    group: GROUP,
    arguments: [PLAN, CHANGED],
    options: [
      { flags: "--mine", description: "publish your version over what others did up to now" },
      { flags: "--theirs", description: "leave what others did, and take your edits back" },
      { flags: "--merge", description: "merge both into your version, where that is possible" },
    ],
    summary: "settle conflicts of a plan, so that it can be committed",
    details: "What others change after that is a conflict again.",
    examples: [
      ["coffer resolve try src/app.ts --merge", "keep both"],
      ["coffer resolve try . --theirs", "yield wherever both have changed something"],
    ],
    load: async () => (await import("../commands/resolve.ts")).resolveConflicts,
  },
  {
    name: "fork",
    group: GROUP,
    arguments: [PLAN, { name: "NEW", description: "the name of the second plan" }],
    options: [
      {
        flags: "--from <NAME>",
        description: "begin with a checkpoint, not with the present state",
      },
    ],
    summary: "make a second plan that begins with what the first one holds",
    details:
      "Both go their own ways; what both change is a conflict for the one that commits later.",
    examples: [["coffer fork try other --from before-upgrade", "try something else"]],
    load: async () => (await import("../commands/fork.ts")).fork,
  },
];
