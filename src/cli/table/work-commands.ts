import type { CommandSpec } from "../command.ts";
import { PLAN, RESOURCE } from "./arguments.ts";

const GROUP = "Work in a plan";

/** Commands that open plans and work in them. */
export const WORK_COMMANDS: readonly CommandSpec[] = [
  {
    name: "open",
    group: GROUP,
    arguments: [
      { name: "PLAN", description: "any name; a plan that is there gets more resources" },
    ],
    options: [
      {
        flags: "-r, --resource <RESOURCE>",
        description: "what the plan may change; may be given several times",
        isMany: true,
      },
    ],
    summary: "open a plan without running anything",
    details: [
      "Every resource gets a sandbox. The plan stays until it is cleaned up, whatever happens to this process.",
      "A path is a directory or file, also when it is a git repository or a database; write git:./repo or sqlite:./app.db to have it treated as one.",
    ].join("\n"),
    examples: [
      ["coffer open try -r ./site -r sqlite:./app.db", "a directory and a database together"],
      ["coffer open try -r git_worktree+git:./repo", "a repository, by a strategy of your choice"],
    ],
    load: async () => (await import("../commands/open.ts")).openPlan,
  },
  {
    name: "sql",
    group: GROUP,
    arguments: [
      PLAN,
      { ...RESOURCE, description: "the database" },
      { name: "QUERY", description: "SQL; from the standard input unless given", isOptional: true },
    ],
    options: [{ flags: "-f, --file <FILE>", description: "take the SQL from a file" }],
    summary: "run SQL in the sandbox of a database",
    details:
      "A query prints its rows. Everything else changes the sandbox only, all statements or none.",
    examples: [
      ["coffer sql try app.db 'SELECT * FROM jobs'", "look"],
      ["coffer sql try app.db -f migration.sql", "run a script"],
    ],
    load: async () => (await import("../commands/sql.ts")).runSql,
  },
  {
    name: "path",
    group: GROUP,
    arguments: [PLAN, { ...RESOURCE, isOptional: true }],
    options: [],
    summary: "print the workspace directory",
    details: "Any program may work there. RESOURCE can be left out when the plan has only one.",
    examples: [['cd "$(coffer path try)"', "work in the plan"]],
    load: async () => (await import("../commands/path.ts")).printPath,
  },
];
