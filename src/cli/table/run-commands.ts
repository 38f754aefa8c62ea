import type { CommandSpec, OptionSpec } from "../command.ts";
import { PLAN } from "./arguments.ts";

const GROUP = "Run a command";

const COMMAND = {
  name: "CMD",
  description: "the command and its arguments, after --",
  isMany: true,
} as const;

/** How a command is enclosed. */
const ENCLOSURE: readonly OptionSpec[] = [
  {
    flags: "--outside <WHAT>",
    description:
      "what becomes of writes outside the plan: discard (unless given), read-only or allow",
    choices: ["discard", "read-only", "allow"],
  },
  { flags: "--no-network", description: "let the command reach nobody but itself" },
];

const SEEN = [
  "The command sees every sandbox at the real path of its resource and starts where you stand, so absolute paths, tools and caches work unchanged.",
  "A SQLite database of the plan is a private copy at its path, and the rows that change there are the plan's. Other databases are real for the command: coffer sql works in the plan.",
  "What it writes elsewhere is thrown away and listed (--outside discard): as root this holds for the whole machine, else for your home and the folders for temporary files, and everything else is read-only.",
  "Where a resource has a container for it, it runs in there instead: what it changes in that system stays with the plan, whatever --outside says.",
  "Whatever it leaves running ends with it. This guards against accidents; it is no prison.",
].join("\n");

/** Commands that run programs in plans. */
export const RUN_COMMANDS: readonly CommandSpec[] = [
  {
    name: "run",
    group: GROUP,
    arguments: [COMMAND],
    options: [
      {
        flags: "-p, --plan <PLAN>",
        description: "the name of the plan, new or there already; run-1, run-2, … unless given",
      },
      {
        flags: "-r, --resource <RESOURCE>",
        description: "what the plan may change; the current directory unless given",
        isMany: true,
      },
      { flags: "--commit", description: "commit if the command succeeds, without asking" },
      { flags: "--discard", description: "discard the whole plan afterwards, without asking" },
      { flags: "--keep", description: "keep the plan open, without asking" },
      { flags: "-m, --message <MSG>", description: "what the commit is about" },
      ...ENCLOSURE,
    ],
    summary: "run a command in a plan, show what it did, then commit or forget it",
    details: [
      SEEN,
      "Afterwards it asks: commit, review, keep or discard. Without a terminal the plan is kept. With --commit a command that fails is not committed, and the plan is kept.",
    ].join("\n"),
    examples: [
      ['coffer run -- npx some-agent "upgrade everything"', "let it loose, then look"],
      ["coffer run --discard -- make install", "what would it do?"],
      ["coffer run -p up -r . -r sqlite:./app.db --keep -- ./migrate.sh", "several things at once"],
    ],
    handlesSignals: true,
    load: async () => (await import("../commands/run.ts")).runCommand,
  },
  {
    name: "exec",
    group: GROUP,
    arguments: [PLAN, COMMAND],
    options: ENCLOSURE,
    summary: "run a command in an open plan",
    details: `${SEEN}\nEnds with the exit code of the command.`,
    examples: [["coffer exec try -- npm test", "test what the plan holds"]],
    handlesSignals: true,
    load: async () => (await import("../commands/exec.ts")).executeCommand,
  },
  {
    name: "shell",
    group: GROUP,
    arguments: [PLAN],
    options: ENCLOSURE,
    summary: "start your shell in an open plan, with a marked prompt",
    details: SEEN,
    examples: [["coffer shell try", "look around, try things, exit"]],
    handlesSignals: true,
    load: async () => (await import("../commands/shell.ts")).startShell,
  },
];
