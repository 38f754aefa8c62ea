import type { CommandSpec } from "../command.ts";
import { PLAN, RESOURCE } from "./arguments.ts";

const GROUP = "Look";

/** Commands that only look. */
export const LOOK_COMMANDS: readonly CommandSpec[] = [
  {
    name: "list",
    group: GROUP,
    arguments: [],
    options: [],
    summary: "list the plans that are there",
    details: "",
    examples: [["coffer list", "name, state, last change and resources of every plan"]],
    load: async () => (await import("../commands/list.ts")).listPlans,
  },
  {
    name: "status",
    group: GROUP,
    arguments: [PLAN],
    options: [],
    summary: "show one plan in detail",
    details: "Its state, and for each resource the strategy, the status and the workspace.",
    examples: [["coffer status try", "how the plan stands"]],
    load: async () => (await import("../commands/status.ts")).showStatus,
  },
  {
    name: "log",
    group: GROUP,
    arguments: [],
    options: [],
    summary: "show the history of commits and undos, the newest first",
    details: "",
    examples: [["coffer log", "what was published when"]],
    load: async () => (await import("../commands/log.ts")).showLog,
  },
  {
    name: "diff",
    group: GROUP,
    arguments: [
      PLAN,
      { ...RESOURCE, isOptional: true },
      {
        name: "PATH",
        description: "only these paths, and what is below",
        isOptional: true,
        isMany: true,
      },
    ],
    options: [
      { flags: "--stat", description: "the changes as a tree" },
      { flags: "--patch", description: "the whole text, however long" },
      { flags: "--name-only", description: "every changed path on a line" },
    ],
    summary: "show what would be committed",
    details: [
      "An overview, then files as a unified diff and databases as rows with old and new values.",
      "With more than 100 changes only the overview, which counts what it does not show.",
      "On a terminal it goes through $PAGER (less -FRX unless set).",
    ].join("\n"),
    examples: [
      ["coffer diff try", "everything"],
      ["coffer diff try site src/app.ts", "one path of one resource"],
      ["coffer diff try --stat", "the tree of changes"],
    ],
    load: async () => (await import("../commands/diff.ts")).showDiff,
  },
];
