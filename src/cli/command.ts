import type { Call } from "./call.ts";
import type { ExitCode } from "./exit-codes.ts";

/** One thing that stands behind the name of a command. */
export interface ArgumentSpec {
  /** In capitals, as the help shows it; its value is asked for in small letters. */
  readonly name: string;
  readonly description: string;
  readonly isOptional?: boolean;
  /** Takes all that follow. */
  readonly isMany?: boolean;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
}

/** One option of a command. */
export interface OptionSpec {
  /** As in `-m, --message <TEXT>`; its value is asked for by the long name. */
  readonly flags: string;
  readonly description: string;
  /** May be given several times; its value is a list. */
  readonly isMany?: boolean;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
}

/** What a command does; answers with the exit code. */
export type CommandAction = (call: Call) => Promise<ExitCode>;

/** One row of the command table, from which commands, help, completion, manual and docs are made. */
export interface CommandSpec {
  readonly name: string;
  /** The command that its name stands behind, as `new` behind `strategies`. */
  readonly parent?: string;
  /** Heading in the help. */
  readonly group: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** One line, beginning with a verb. */
  readonly summary: string;
  /** Whatever else one has to know. */
  readonly details: string;
  /** Command lines that work, each with what it does. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** Hands signals on to a command of its own, instead of stopping in order at the first Ctrl-C. */
  readonly handlesSignals?: boolean;
  /** Loads the code of the command, which nothing else pays for. */
  readonly load: () => Promise<CommandAction>;
}

/** The options that every command has. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: "--json", description: "print exactly one JSON value, errors too" },
  { flags: "--state <DIR>", description: "the state directory, instead of the usual one" },
  {
    flags: "--config <FILE>",
    description: "the configuration file, instead of the nearest cofferdam.yaml",
  },
  { flags: "-q, --quiet", description: "print the answer and errors only" },
];

/** The command with its arguments and options on one line. */
export function synopsisOf(spec: CommandSpec): string {
  const parts = [
    ...spec.arguments.filter(({ name }) => name !== "CMD").map(argumentText),
    ...spec.options.map(({ flags, isMany }) => {
      const short = flags.split(/, /)[0]!.split(" ")[0]!;
      const value = /<.*>/.exec(flags)?.[0].slice(1, -1);
      return `[${short}${value === undefined ? "" : ` ${value}`}]${isMany === true ? "…" : ""}`;
    }),
    ...spec.arguments.filter(({ name }) => name === "CMD").map(() => "-- CMD…"),
  ];
  return [nameOf(spec), ...parts].join(" ");
}

/** How the command is called, without arguments. */
export function nameOf({ parent, name }: CommandSpec): string {
  return ["coffer", ...(parent === undefined ? [] : [parent]), name].join(" ");
}

function argumentText({ name, isOptional, isMany }: ArgumentSpec): string {
  const text = isMany === true ? `${name}…` : name;
  return isOptional === true ? `[${text}]` : text;
}
