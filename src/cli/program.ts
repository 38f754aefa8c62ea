import { createRequire } from "node:module";
import { Command, CommanderError } from "commander";
import type { AnswerOptions, ExitCode } from "./command.ts";
import { fail } from "./fail.ts";

const EXIT_CODES = `
Exit codes: 0 done, 1 failed, 2 called wrongly.`;

/** Runs one command line. Commands load what they need when they are called, so that looking at the help is quick. */
export async function runCommandLine(args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = createProgram((code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    return fail(error, { isJson: args.includes("--json") });
  }
}

function createProgram(end: (code: ExitCode) => void): Command {
  const program = new Command("coffer")
    .description(
      "Transactional sandboxes: work in isolation, look at one diff, commit all or none.",
    )
    .version(versionOf(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [COMMAND]", "print the help of a command")
    .addHelpText("after", EXIT_CODES)
    .showHelpAfterError(
      "hint: `coffer --help` lists the commands, `coffer COMMAND --help` their options.",
    )
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error: /, "coffer: ")),
    })
    .exitOverride();

  program
    .command("strategies")
    .description("list the strategies: what they promise, and whether they work at PATH")
    .argument("[PATH]", "where a sandbox would be made", ".")
    .option("--json", "print JSON")
    .action(async (path: string, options: AnswerOptions) => {
      const { showStrategies } = await import("./commands/strategies.ts");
      end(await showStrategies(path, options));
    });

  program
    .command("doctor")
    .description("find out what this machine can do at PATH, by trying it")
    .argument("[PATH]", "where a sandbox would be made", ".")
    .option("--json", "print JSON")
    .action(async (path: string, options: AnswerOptions) => {
      const { examine } = await import("./commands/doctor.ts");
      end(await examine(path, options));
    });

  program
    .command("demo")
    .description("show a sandbox at work on a directory made for it, and leave nothing behind")
    .option("--strategy <NAME>", "the strategy to show")
    .action(async (options: { readonly strategy?: string }) => {
      const { demonstrate } = await import("./commands/demo.ts");
      end(await demonstrate(options));
    });

  return program;
}

function versionOf(): string {
  const manifest = createRequire(import.meta.url)("../../package.json") as { version: string };
  return manifest.version;
}
