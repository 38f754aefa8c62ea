import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { PlatformUnsupportedError, SandboxPathError } from "../errors/index.ts";
import { ENTER_SCRIPT, WITHOUT_CAPABILITIES } from "./enter-script.ts";
import type { View } from "./view.ts";

/** One of the three standard streams of a command. */
export type CommandStream = "inherit" | "ignore" | number;

/** A command, and where it runs. */
export interface Command {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdio: readonly [CommandStream, CommandStream, CommandStream];
  readonly signal?: AbortSignal | undefined;
}

/** How a command ended. */
export interface CommandEnd {
  /** Its own code; 128 and the number of the signal where one ended it. */
  readonly exitCode: number;
  /** Places that could not be given a layer and could only be read. */
  readonly fixed: readonly string[];
  /** Real paths of copies that could not be shown, because the sandbox around them has no file there. */
  readonly hidden: readonly string[];
}

/** This machine gives no view to a command; it was not started. */
export class ViewError extends Error {
  override readonly name = "ViewError";
}

/** What is needed to run a command in namespaces of its own. */
export interface Enclosure {
  readonly view: View;
  readonly isRoot: boolean;
  readonly network: boolean;
  /** The lock of the run. */
  readonly descriptor: number;
}

/** What a shell says of a program that is not there or must not be started. */
const NOT_STARTED: Readonly<Record<string, number>> = { ENOENT: 127, EACCES: 126 };
const COMPLAINTS = 2;
const STATUS = 3;
/** Signals that are the command's own affair when they come from the terminal, which sends them to it as well. */
const OF_THE_TERMINAL: readonly NodeJS.Signals[] = ["SIGINT", "SIGQUIT"];
/** Signals that are handed on. */
const HANDED_ON: readonly NodeJS.Signals[] = ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"];

/**
 * Runs a command in a mount and process namespace of its own, as the view shows it, and waits for its end. Whatever it
 * left running ends with it, and all ends when this process does.
 * @throws ViewError when the view cannot be built.
 */
export async function runEnclosed(command: Command, enclosure: Enclosure): Promise<CommandEnd> {
  const { view, isRoot, network, descriptor } = enclosure;
  const user = isRoot ? [] : ["--user", "--map-current-user", "--keep-caps"];
  const namespaces = ["--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"];
  const [program = ""] = command.argv;
  const steps = [...view.steps.flat(), "run", command.cwd, program];
  const script = ["sh", "-c", ENTER_SCRIPT, "coffer", languageWord(command.env), ...steps];
  const argv = isRoot ? command.argv : [...WITHOUT_CAPABILITIES, ...command.argv];
  const child = spawn(
    "setpriv",
    [
      ...["--pdeathsig", "KILL", "--", "unshare", ...user, ...namespaces],
      ...(network ? [] : ["--net"]),
      ...["--", ...script, ...argv],
    ],
    {
      // In a language of its own each program on the way to the command would read a dozen files first.
      env: { ...command.env, LC_ALL: "C" },
      stdio: [command.stdio[0], command.stdio[1], "pipe", "pipe", errorsOf(command), descriptor],
    },
  );
  const status = collect(child.stdio[STATUS] as Readable);
  const complaints = collect(child.stdio[COMPLAINTS] as Readable);
  let exitCode: number;
  try {
    exitCode = await endOf(child, command.signal, () => commandIn(child.pid));
  } catch (cause) {
    throw new ViewError(`the program setpriv cannot be started`, { cause });
  }
  const notes = textOf(status).split("\0");
  if (!notes.includes("ready")) {
    if (notes.includes("nowhere")) throw nowhere(command.cwd);
    const reason = textOf(complaints).trim() || "it ended early";
    throw notes.includes("able") ? unbuilt(reason) : new ViewError(reason);
  }
  return { exitCode, fixed: told(notes, "fixed "), hidden: told(notes, "hidden ") };
}

/** How the script is told which language to give back to the command. */
function languageWord({ LC_ALL }: Command["env"]): string {
  return LC_ALL === undefined ? "none" : `=${LC_ALL}`;
}

function told(notes: readonly string[], word: string): readonly string[] {
  return notes.flatMap((note) => (note.startsWith(word) ? [note.slice(word.length)] : []));
}

/** The machine can do it, and still it did not work: rather no command than one that nothing holds. */
function unbuilt(reason: string): PlatformUnsupportedError {
  return new PlatformUnsupportedError(`The view of the command could not be built: ${reason}`, {
    data: { what: "view of a command", reason },
    operation: "run",
    hint: "The command was not started. Try again; outside: allow needs the fewest mounts.",
  });
}

/** The error for a command that was to start in a folder which its view does not have. */
export function nowhere(folder: string): SandboxPathError {
  const message = `The command cannot start in ${folder}: the sandbox has no such folder`;
  return new SandboxPathError(message, {
    data: { path: folder, reason: "missing" },
    operation: "run",
    hint: "Start it from a folder that the sandbox has. A git worktree has what is committed, without untracked folders, and a plan may have removed it.",
  });
}

/** Runs a command as it is, without any view. */
export async function runPlainly(command: Command): Promise<CommandEnd> {
  const [program = "", ...args] = command.argv;
  const { cwd, env, stdio } = command;
  const child = spawn(program, args, { cwd, env, stdio: [...stdio] });
  try {
    return { exitCode: await endOf(child, command.signal, () => child.pid), fixed: [], hidden: [] };
  } catch (error) {
    const exitCode = NOT_STARTED[(error as NodeJS.ErrnoException).code ?? ""];
    if (exitCode === undefined) throw error;
    return { exitCode, fixed: [], hidden: [] };
  }
}

/** Where the command's own errors go: its second descriptor is for those who build the view. */
function errorsOf({ stdio }: Command): CommandStream {
  return stdio[2] === "inherit" ? process.stderr.fd : stdio[2];
}

function endOf(
  child: ChildProcess,
  signal: AbortSignal | undefined,
  target: () => number | undefined,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const kill = (): void => void child.kill("SIGKILL");
    let interrupts = 0;
    const ignore = (): void => {
      interrupts += 1;
      // Whoever asks twice does not want to wait for a command that does not listen.
      if (interrupts > 1) kill();
    };
    const handOn = (name: NodeJS.Signals): void => send(target(), name);
    const listeners = [
      ...OF_THE_TERMINAL.map((name) => [name, ignore] as const),
      ...HANDED_ON.map((name) => [name, handOn] as const),
    ];
    for (const [name, listener] of listeners) process.on(name, listener);
    signal?.addEventListener("abort", kill, { once: true });
    if (signal?.aborted === true) kill();
    const settle = (finish: () => void): void => {
      for (const [name, listener] of listeners) process.off(name, listener);
      signal?.removeEventListener("abort", kill);
      finish();
    };
    child.on("error", (error) => settle(() => reject(error)));
    child.on("close", (code, name) => settle(() => resolve(code ?? codeOf(name))));
  });
}

function codeOf(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** The process of the command: the only child of the first process of its namespace. */
function commandIn(pid: number | undefined): number | undefined {
  if (pid === undefined) return undefined;
  const [first] = childrenOf(pid);
  return first === undefined ? undefined : childrenOf(first)[0];
}

function childrenOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
    return text.trim().split(" ").filter(Boolean).map(Number);
  } catch {
    // It has just ended.
    return [];
  }
}

function send(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}

/** What a stream says, as it comes; whole once the process at its other end is closed. */
function collect(stream: Readable): readonly Buffer[] {
  const chunks: Buffer[] = [];
  // Much cheaper to begin with than iterating, which has to be able to stop half way.
  stream.on("data", (chunk: Buffer) => chunks.push(chunk));
  return chunks;
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString("utf8");
}
