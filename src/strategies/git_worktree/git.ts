import type { RunResult, StrategyHost } from "../../contract/host.ts";
import { describeThrown } from "../../errors/index.ts";

/** A git command that ended in another way than it may. */
export class GitError extends Error {
  override readonly name = "GitError";
  readonly code = "GIT";
  readonly exitCode: number | null;
  /** What git wrote about it, in English. */
  readonly detail: string;

  constructor(args: readonly string[], { exitCode, signal, stderr }: RunResult) {
    const detail = stderr.toString("utf8").trim();
    const end = exitCode === null ? `was ended by ${signal}` : `ended with ${exitCode}`;
    super(`git ${args[0] ?? ""} ${end}${detail === "" ? "" : `: ${detail}`}`);
    this.exitCode = exitCode;
    this.detail = detail;
  }
}

/** How one git command is run. */
export interface GitCall {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array;
  /** Exit codes that are answers; 0 alone unless told. */
  readonly accept?: readonly number[];
  readonly signal?: AbortSignal;
  /** The user asked for hooks of the repository by name. */
  readonly runsHooks?: boolean;
}

/** How a git command answered. */
export interface GitAnswer {
  readonly exitCode: number;
  readonly stdout: Buffer;
}

/** Nothing asks, nothing opens an editor or a pager, nothing is fetched, and looking takes no lock. */
const ENVIRONMENT = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  GIT_EDITOR: "false",
  GIT_SEQUENCE_EDITOR: "false",
  GIT_PAGER: "cat",
  GIT_SSH_COMMAND: "false",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_NO_LAZY_FETCH: "1",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_LITERAL_PATHSPECS: "1",
};

/** Settings that count above every file, so that no configuration can start a program of its own, or surprise. */
const SETTINGS: readonly (readonly [key: string, value: string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.splitIndex", "false"],
  ["core.alternateRefsCommand", "false"],
  ["credential.helper", ""],
  ["diff.external", ""],
  ["gc.auto", "0"],
  // What a message is given in, whatever the user's own commits are written in.
  ["i18n.commitEncoding", "UTF-8"],
  ["index.sparse", "false"],
  // git-lfs then takes the large files that are there, asks no server, and leaves the pointers to all others.
  ["lfs.skipdownloaderrors", "true"],
  ["lfs.url", "none"],
  ["maintenance.auto", "false"],
  // Else an edit could be published in another folder than the diff shows, or be a conflict that has no path of its own.
  ["merge.directoryRenames", "false"],
  ["protocol.allow", "never"],
  ["submodule.recurse", "false"],
];

const DEFAULT_LIMIT_MS = 10 * 60_000;
const MAX_OUTPUT_BYTES = 1024 ** 3;

/** The one way to git: hardened, with a time limit for every call and every exit status looked at. */
export class Git {
  readonly #host: StrategyHost;
  readonly #limitMs: number;

  constructor(host: StrategyHost, limitMs = DEFAULT_LIMIT_MS) {
    this.#host = host;
    this.#limitMs = limitMs;
  }

  /**
   * Runs a command and gives what it wrote.
   * @throws GitError for an exit status that is no answer; OperationTimeoutError after the end of its whole group.
   */
  async run(args: readonly string[], call: GitCall = {}): Promise<Buffer> {
    return (await this.ask(args, call)).stdout;
  }

  /** The one line of text that a command wrote. */
  async line(args: readonly string[], call: GitCall = {}): Promise<string> {
    return (await this.run(args, call)).toString("utf8").replace(/\n$/, "");
  }

  /** As `run`, with the exit code, for commands that answer by it. */
  async ask(args: readonly string[], call: GitCall = {}): Promise<GitAnswer> {
    const { cwd = "/", env = {}, input, accept = [0], signal, runsHooks = false } = call;
    const result = await this.#host.run("git", args, {
      cwd,
      env: { ...ENVIRONMENT, ...settingsEnvironment(runsHooks), ...env },
      timeoutMs: this.#limitMs,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      ...(input !== undefined && { input }),
      ...(signal !== undefined && { signal }),
    });
    const { exitCode, stdout } = result;
    if (exitCode === null || !accept.includes(exitCode)) throw new GitError(args, result);
    return { exitCode, stdout };
  }
}

/** One line about a failure of git, for messages. */
export function describeGit(thrown: unknown): string {
  if (!(thrown instanceof GitError) || thrown.detail === "") return describeThrown(thrown);
  const [first = "", ...more] = thrown.detail.split("\n").map((line) => line.trim());
  // What it is about stands below then.
  return first.endsWith(":") ? `${first} ${more.join(", ")}` : first;
}

function settingsEnvironment(runsHooks: boolean): Record<string, string> {
  const settings = SETTINGS.filter(([key]) => !runsHooks || key !== "core.hooksPath");
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  settings.forEach(([key, value], at) => {
    env[`GIT_CONFIG_KEY_${at}`] = key;
    env[`GIT_CONFIG_VALUE_${at}`] = value;
  });
  return env;
}
