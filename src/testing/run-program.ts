import { spawn } from "node:child_process";
import { once } from "node:events";
import { buffer } from "node:stream/consumers";

/** How a program ended. */
export interface ProgramResult {
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Starts a program with an argument list in a folder and waits for its end; whether it failed is for the caller. */
export async function runProgram(
  folder: string,
  program: string,
  args: readonly string[],
  input = "",
): Promise<ProgramResult> {
  const child = spawn(program, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
    stdio: ["pipe", "pipe", "pipe"],
  });
  // A program that does not read its input is no failure of ours.
  child.stdin.on("error", () => undefined);
  child.stdin.end(input);
  const [[exitCode], stdout, stderr] = await Promise.all([
    once(child, "close") as Promise<[number | null]>,
    buffer(child.stdout),
    buffer(child.stderr),
  ]);
  return { exitCode, stdout, stderr: stderr.toString("utf8") };
}

/** What a program printed; throws when it failed. */
export function outputOf(what: string, { exitCode, stdout, stderr }: ProgramResult): Buffer {
  if (exitCode !== 0) throw new Error(`${what} ended with ${exitCode}: ${stderr}`);
  return stdout;
}
