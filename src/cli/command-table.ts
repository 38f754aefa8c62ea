import type { CommandSpec } from "./command.ts";
import { CHECKPOINT_COMMANDS } from "./table/checkpoint-commands.ts";
import { FINISH_COMMANDS } from "./table/finish-commands.ts";
import { LOOK_COMMANDS } from "./table/look-commands.ts";
import { MACHINE_COMMANDS, MACHINE_GROUP } from "./table/machine-commands.ts";
import { RUN_COMMANDS } from "./table/run-commands.ts";
import { WORK_COMMANDS } from "./table/work-commands.ts";

/** Every command, in the order of the help: the one place where names, arguments and options stand. */
export const COMMANDS: readonly CommandSpec[] = [
  ...RUN_COMMANDS,
  ...WORK_COMMANDS,
  ...LOOK_COMMANDS,
  ...CHECKPOINT_COMMANDS,
  ...FINISH_COMMANDS,
  ...MACHINE_COMMANDS,
  {
    name: "completion",
    group: MACHINE_GROUP,
    arguments: [
      { name: "SHELL", description: "bash, zsh or fish", choices: ["bash", "zsh", "fish"] },
    ],
    options: [],
    summary: "print the completion of commands, options and plans for a shell",
    details: "Put what it prints where your shell reads it when it starts.",
    examples: [
      ["source <(coffer completion bash)", "in ~/.bashrc; zsh alike"],
      ["coffer completion fish > ~/.config/fish/completions/coffer.fish", "for fish"],
    ],
    load: async () => {
      const { printCompletion } = await import("./commands/completion.ts");
      return (call) => printCompletion(call, COMMANDS);
    },
  },
];
