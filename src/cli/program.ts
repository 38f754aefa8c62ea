import { createRequire } from "node:module";
import { Command, CommanderError, Option } from "commander";
import { Call } from "./call.ts";
import { GLOBAL_OPTIONS, nameOf, synopsisOf } from "./command.ts";
import type { CommandSpec, OptionSpec } from "./command.ts";
import { COMMANDS } from "./command-table.ts";
import { EXIT, EXIT_MEANINGS } from "./exit-codes.ts";
import type { ExitCode } from "./exit-codes.ts";
import { fail } from "./fail.ts";
import { Interruption } from "./interruption.ts";
import { usageError } from "./usage-error.ts";

/**
 * Runs one command line, and tells which command it calls. Commands load what they need when they are called, so that
 * looking at the help is quick.
 */
export async function runCommandLine(
  args: readonly string[],
  tellCommand: (name: string) => void,
): Promise<ExitCode> {
  const own = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  const isJson = own.includes("--json");
  let exitCode: ExitCode = EXIT.done;
  const program = createProgram(isJson, commandsFor(args), async (spec, values) => {
    tellCommand(spec.name);
    exitCode = await runCommand(spec, values);
  });
  try {
    await program.parseAsync(args, { from: "user" });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) return fail(error, { isJson });
    if (error.exitCode === 0) return EXIT.done;
    if (error.code !== "commander.help") return fail(usageError(error.message), { isJson });
    // The help was printed instead, which is told already.
    return isJson ? fail(usageError("no command is given"), { isJson }) : EXIT.usage;
  }
}

async function runCommand(spec: CommandSpec, values: Record<string, unknown>): Promise<ExitCode> {
  const isJson = values["json"] === true;
  if (spec.handlesSignals === true) {
    return (await spec.load())(new Call(values, new AbortController().signal));
  }
  using interruption = new Interruption((line) => {
    if (!isJson) process.stderr.write(`${line}\n`);
  });
  const call = new Call(values, interruption.signal);
  try {
    return await (
      await spec.load()
    )(call);
  } catch (error) {
    const code = interruption.exitCode(await fail(error, { isJson }));
    if (interruption.signal.aborted && !isJson) await tellState(call);
    return code;
  }
}

/** A function of its own, because the compiler does not rewrite imports beside a `using`. */
async function tellState(call: Call): Promise<void> {
  const { tellStateOfPlan } = await import("./tell-state-of-plan.ts");
  await tellStateOfPlan(call);
}

/** The command that is called, alone; all of them where that is not plain, as for the help and for misspelt names. */
function commandsFor(args: readonly string[]): readonly CommandSpec[] {
  const words = new Map(
    GLOBAL_OPTIONS.flatMap(({ flags }) => {
      const [names, value] = flags.split(" <");
      return names!.split(", ").map((name) => [name, value === undefined ? 1 : 2] as const);
    }),
  );
  let at = 0;
  while (words.has(args[at] ?? "")) at += words.get(args[at] ?? "") ?? 1;
  const called = COMMANDS.filter(({ name, parent }) => (parent ?? name) === args[at]);
  return called.length === 0 ? COMMANDS : called;
}

function createProgram(
  isJson: boolean,
  commands: readonly CommandSpec[],
  run: (spec: CommandSpec, values: Record<string, unknown>) => Promise<void>,
): Command {
  const program = new Command("coffer")
    .description(
      "Transactional sandboxes: work in isolation, look at one diff, commit all or none.",
    )
    .addOption(new Option("-V, --version", "print the version"))
    .on("option:version", printVersion)
    .helpOption("-h, --help", "print this help")
    .helpCommand("help [COMMAND]", "print the help of a command")
    .configureHelp({
      showGlobalOptions: true,
      minWidthToWrap: 16,
      subcommandTerm: (command) => command.name(),
      // They say themselves what holds unless they are given.
      optionDescription: ({ description }) => description,
    })
    // What is wrong is told by whoever catches it.
    .configureOutput({
      outputError: () => undefined,
      ...(isJson && { writeErr: () => undefined }),
    })
    .exitOverride();
  for (const option of GLOBAL_OPTIONS) program.addOption(optionOf(option));
  for (const spec of commands) addCommand(program, spec, run);
  const codes = Object.entries(EXIT).map(
    ([name, code]) => `  ${code}  ${EXIT_MEANINGS[name as keyof typeof EXIT]}`,
  );
  return program.addHelpText(
    "after",
    [
      "",
      "A RESOURCE is a name from cofferdam.yaml, a path, or [STRATEGY+]TYPE:LOCATION with TYPE",
      "dir, file, mount, git, sqlite, postgres, mariadb or a type of the configuration.",
      "",
      "Exit codes (`run`, `exec` and `shell` end with that of their command):",
      ...codes,
    ].join("\n"),
  );
}

function addCommand(
  program: Command,
  spec: CommandSpec,
  run: (spec: CommandSpec, values: Record<string, unknown>) => Promise<void>,
): void {
  const above = program.commands.find((command) => command.name() === spec.parent) ?? program;
  const command = above
    .command(spec.name)
    .summary(spec.summary)
    .description(
      [`${spec.summary[0]?.toUpperCase() ?? ""}${spec.summary.slice(1)}.`, spec.details]
        .join("\n\n")
        .trim(),
    )
    .usage(synopsisOf(spec).slice(`${nameOf(spec)} `.length))
    .helpGroup(`${spec.group}:`);
  for (const { name, description, isOptional, isMany } of spec.arguments) {
    const term = isMany === true ? `${name}...` : name;
    command.argument(isOptional === true ? `[${term}]` : `<${term}>`, description);
  }
  for (const option of spec.options) command.addOption(optionOf(option));
  if (spec.examples.length > 0) {
    const lines = spec.examples.flatMap(([line, meaning]) => [`  # ${meaning}`, `  ${line}`]);
    command.addHelpText("after", ["", "Examples:", ...lines].join("\n"));
  }
  command.action(async () => {
    const names = spec.arguments.map(({ name }) => name.toLowerCase());
    const given = names.map((name, at) => [name, command.processedArgs[at] as unknown] as const);
    await run(spec, { ...command.optsWithGlobals(), ...Object.fromEntries(given) });
  });
}

function optionOf({ flags, description, isMany, choices }: OptionSpec): Option {
  const option = new Option(flags, description);
  if (choices !== undefined) option.choices(choices);
  if (isMany !== true) return option;
  return option.argParser((value: string, before: string[] | undefined) => [
    ...(before ?? []),
    value,
  ]);
}

/** Found when it is asked for: every other call would only wait for it. */
function printVersion(): never {
  const manifest = createRequire(import.meta.url)("../../package.json") as { version: string };
  process.stdout.write(`${manifest.version}\n`);
  throw new CommanderError(0, "commander.version", manifest.version);
}
