/** A folder, or file, of this machine, and where a command sees it. */
export interface ShownPlace {
  /** The absolute path at which it is seen. */
  readonly location: string;
  /** The absolute path at which it lies. */
  readonly workspace: string;
}

/** A command that a strategy is to give surroundings of its own. */
export interface CommandRequest {
  readonly argv: readonly string[];
  /** Where it starts, as a path of this machine, whether or not the surroundings have it. */
  readonly cwd: string;
  /** The environment of whoever runs it. How much of it makes sense in the surroundings is the strategy's to know. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What the plan adds for each of its commands, such as its own name; these are to be seen in any case. */
  readonly planEnvironment: Readonly<Record<string, string>>;
  /** Whether its input and its output are a terminal. */
  readonly terminal: boolean;
  /** Without it the command reaches nobody but itself. */
  readonly network: boolean;
  /** What is to be seen, and changed, at its real path: this sandbox and the others of the plan; outer ones first. */
  readonly folders: readonly ShownPlace[];
}

/** What a command has left in its surroundings. */
export interface EndedCommand {
  /** Paths that it changed there, what was shown to it left out; the sandbox keeps them. */
  readonly changed: readonly string[];
}

/** What is started on this machine in the place of a command; its streams, signals and end are those of the command. */
export interface HostCommand {
  readonly argv: readonly string[];
  readonly environment: Readonly<Record<string, string | undefined>>;
}
