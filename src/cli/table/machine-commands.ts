import type { ArgumentSpec, CommandSpec } from "../command.ts";

/** Heading of these commands in the help. */
export const MACHINE_GROUP = "This machine";

const PATH: ArgumentSpec = {
  name: "PATH",
  description: "where a sandbox would be made; the current directory unless given",
  isOptional: true,
};

/** Commands about the machine and the program itself. */
export const MACHINE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "strategies",
    group: MACHINE_GROUP,
    arguments: [PATH],
    options: [],
    summary: "list the strategies: what they promise, and whether they work at PATH",
    details: "Every strategy is tried for real at the place. Nothing is left behind.",
    examples: [["coffer strategies ./site", "what can be used for ./site, and in which mode"]],
    load: async () => (await import("../commands/strategies.ts")).showStrategies,
  },
  {
    name: "new",
    parent: "strategies",
    group: MACHINE_GROUP,
    arguments: [{ name: "NAME", description: "of the plug-in and of its folder" }],
    options: [],
    summary: "write a plug-in with a strategy that works, and its conformance test",
    details:
      "It is made in the folder NAME, which must not be there. What it holds passes the conformance kit; change it step by step into what your resource needs.",
    examples: [["coffer strategies new versioned-store", "begin a strategy of your own"]],
    load: async () => (await import("../commands/strategies-new.ts")).writeNewStrategy,
  },
  {
    name: "doctor",
    group: MACHINE_GROUP,
    arguments: [PATH],
    options: [],
    summary: "find out what this machine can do at PATH, by trying it",
    details: "What does not work is shown with the reason and with what to install.",
    examples: [["coffer doctor", "try it out for the current directory"]],
    load: async () => (await import("../commands/doctor.ts")).examine,
  },
  {
    name: "demo",
    group: MACHINE_GROUP,
    arguments: [],
    options: [],
    summary: "show the whole story on things made for it, and leave nothing behind",
    details:
      "A directory, a git repository and a SQLite database are changed together, with a failure, a kill and an undo. Every claim is checked.",
    examples: [["coffer demo", "ten seconds, no set-up"]],
    load: async () => (await import("../commands/demo.ts")).demonstrate,
  },
];
