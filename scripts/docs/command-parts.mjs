import { table } from "./markdown-table.mjs";

/** The parts of the docs that are made from the command table. Needs a built `dist/`. */
export async function commandParts() {
  const { COMMANDS } = await import("../../dist/cli/command-table.js");
  const { GLOBAL_OPTIONS, synopsisOf } = await import("../../dist/cli/command.js");
  const { EXIT, EXIT_MEANINGS } = await import("../../dist/cli/exit-codes.js");
  return {
    commands: table(
      ["command", "what it does"],
      COMMANDS.map((spec) => [code(synopsisOf(spec)), spec.summary]),
    ),
    "global options": table(
      ["option", "meaning"],
      GLOBAL_OPTIONS.map(({ flags, description }) => [code(flags), description]),
    ),
    "exit codes": table(
      ["exit code", "meaning"],
      Object.entries(EXIT).map(([name, number]) => [String(number), EXIT_MEANINGS[name]]),
    ),
  };
}

function code(text) {
  return `\`${text.replaceAll("|", "\\|")}\``;
}
