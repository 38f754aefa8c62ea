import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { type Home, node, program } from "./coffer.ts";

const PATIENCE_MS = 60_000;
const STEP_MS = 20;

/** The command line at work in a terminal. */
export interface PseudoTerminal {
  readonly pid: number;
  /** Everything that was shown so far, with `\n` at the ends of lines. */
  shown(): string;
  /** Waits until a text has been shown. */
  sees(text: string): Promise<void>;
  type(text: string): void;
  /** Waits for the end, and gives the exit code. */
  ended(): Promise<number>;
}

/** What Ctrl-C and Ctrl-D send. */
export const KEYS = { interrupt: "\u0003", endOfInput: "\u0004" } as const;

/** Starts `coffer` in a terminal of this width. */
export function startInTerminal(
  home: Home,
  args: readonly string[],
  { columns = 80, env = {} }: { columns?: number; env?: Readonly<Record<string, string>> } = {},
): PseudoTerminal {
  const words = [node, program, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const line = `stty cols ${columns} rows 24; exec ${words.join(" ")}`;
  const child: ChildProcessWithoutNullStreams = spawn("script", ["-qfec", line, "/dev/null"], {
    cwd: home.project,
    env: { TERM: "xterm", SHELL: "/bin/sh", ...home.env, ...env },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8").replaceAll("\r\n", "\n");
  });
  const end = new Promise<number>((resolve) => {
    child.on("close", (code) => resolve(code ?? -1));
  });
  return {
    pid: child.pid ?? 0,
    shown: () => output,
    type: (text) => void child.stdin.write(text),
    ended: () => end,
    sees: async (text) => {
      for (let waited = 0; waited < PATIENCE_MS; waited += STEP_MS) {
        if (output.includes(text)) return;
        await pause(STEP_MS);
      }
      throw new Error(`${JSON.stringify(text)} was not shown in ${JSON.stringify(output)}`);
    },
  };
}
