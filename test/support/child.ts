import { spawn, type ChildProcessByStdio } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { buildProgram } from "./program.ts";

/** How a program of the tests is started. */
export interface ChildOptions {
  /** Added to a bare environment of PATH, TMPDIR and what coverage needs. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory; the root directory unless given, which every user may enter. */
  readonly cwd?: string;
  /** Runs under this user; the group is the same number. */
  readonly uid?: number;
  /** Options for Node itself. */
  readonly nodeArgs?: readonly string[];
  /** Program and arguments in front of Node, such as `strace`, `prlimit` or `unshare` with theirs. */
  readonly wrapper?: readonly string[];
  /** Text for the standard input, which is closed after it. */
  readonly input?: string;
}

/** How a child ended and what it said. */
export interface ChildResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A child that still runs. `result` settles when it has ended; whoever starts it sees to that. */
export interface RunningChild {
  readonly process: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly result: Promise<ChildResult>;
}

/** Runs a TypeScript program of the tests in a Node process of its own and waits for its end. */
export async function runChild(
  program: string | URL,
  args: readonly string[] = [],
  options: ChildOptions = {},
): Promise<ChildResult> {
  const child = await startChild(program, args, options);
  child.process.stdin.end(options.input ?? "");
  return child.result;
}

/** Starts a TypeScript program of the tests; its standard input stays open. */
export async function startChild(
  program: string | URL,
  args: readonly string[] = [],
  options: ChildOptions = {},
): Promise<RunningChild> {
  const file = await buildProgram(typeof program === "string" ? program : fileURLToPath(program));
  const node = process.env["COFFERDAM_TEST_NODE"] ?? process.execPath;
  const line = [...(options.wrapper ?? []), node, ...(options.nodeArgs ?? []), file, ...args];
  const [command = node, ...rest] = line;
  const child = spawn(command, rest, {
    cwd: options.cwd ?? "/",
    env: { ...bareEnvironment(), ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
  });
  // A child that is killed leaves a broken pipe behind; its result tells what happened.
  child.stdin.on("error", () => undefined);
  return { process: child, result: resultOf(child) };
}

async function resultOf(child: RunningChild["process"]): Promise<ChildResult> {
  const [[code, signal], stdout, stderr] = await Promise.all([
    once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>,
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, signal, stdout, stderr };
}

function bareEnvironment(): Record<string, string> {
  const kept = ["PATH", "TMPDIR", "NODE_V8_COVERAGE"];
  return Object.fromEntries(
    kept.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
