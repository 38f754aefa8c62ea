import type { CommandSpec } from "../command.ts";
import { PLAN } from "./arguments.ts";

const GROUP = "Finish";

/** Commands that publish plans, take them back, or forget them. */
export const FINISH_COMMANDS: readonly CommandSpec[] = [
  {
    name: "commit",
    group: GROUP,
    arguments: [PLAN],
    options: [
      { flags: "-m, --message <TEXT>", description: "kept in the history" },
      { flags: "--only <RESOURCE>", description: "commit these resources only", isMany: true },
      { flags: "--expect <DIGEST>", description: "only if the diff still has this digest" },
      { flags: "--merge", description: "merge text that both sides changed in different places" },
      { flags: "--best-effort", description: "go on where all or nothing cannot be promised" },
      { flags: "--clean", description: "forget the plan afterwards; it cannot be undone then" },
    ],
    summary: "publish the changes of a plan, all or nothing",
    details:
      "Every resource is in the new state, or every one is as before and the edits are kept.",
    examples: [["coffer commit try -m 'upgrade everything'", "publish it"]],
    load: async () => (await import("../commands/commit.ts")).commit,
  },
  {
    name: "rollback",
    group: GROUP,
    arguments: [PLAN],
    options: [{ flags: "--dry-run", description: "only list what it would do" }],
    summary: "discard the edits of an open plan, or undo a committed one",
    details: "An undo is refused where somebody changed the same paths after the commit.",
    examples: [
      ["coffer rollback try --dry-run", "what would happen"],
      ["coffer rollback try", "do it"],
    ],
    load: async () => (await import("../commands/rollback.ts")).rollback,
  },
  {
    name: "clean",
    group: GROUP,
    arguments: [{ ...PLAN, isOptional: true }],
    options: [
      { flags: "--force", description: "also with edits that are not committed" },
      { flags: "--abandoned", description: "all plans that nobody keeps and nobody works on" },
      { flags: "--list", description: "only list the plans with the disk space each holds" },
    ],
    summary: "forget a plan and free what it holds on disk",
    details: "What was committed stays, and cannot be undone any more.",
    examples: [
      ["coffer clean try", "forget a plan"],
      ["coffer clean --list", "what each plan takes on disk"],
    ],
    load: async () => (await import("../commands/clean.ts")).clean,
  },
  {
    name: "recover",
    group: GROUP,
    arguments: [],
    options: [{ flags: "--list", description: "only list what was interrupted" }],
    summary: "finish or take back what a crash interrupted",
    details:
      "Commands that change something do so by themselves. Work whose process lives is left alone.",
    examples: [["coffer recover --list", "what there is to do"]],
    load: async () => (await import("../commands/recover.ts")).recover,
  },
];
