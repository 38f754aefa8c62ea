import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { runChild } from "../support/child.ts";
import { tempFolder } from "../support/temp.ts";

/** One system call of a traced program, with the paths behind its descriptors. */
export interface TracedCall {
  readonly name: string;
  readonly line: string;
  /** Absolute paths of descriptors, or given relative to one. */
  readonly paths: readonly string[];
  readonly result: number;
}

const program = new URL("./programs/operate.ts", import.meta.url);

/**
 * Does something with the one sandbox of a state directory, in a process of its own under `strace`, and gives the
 * calls that it made, over all threads.
 */
export async function trace(
  state: string,
  operations: readonly string[],
  calls: readonly string[],
): Promise<TracedCall[]> {
  const log = join(tempFolder(), "trace");
  const strace = ["strace", "-f", "-y", "--seccomp-bpf", "-s", "0", "-o", log];
  strace.push("-e", `trace=${calls.join(",")}`);
  const result = await runChild(program, [state, ...operations], { wrapper: strace });
  expect(result).toMatchObject({ code: 0, stderr: "" });
  return readFileSync(log, "utf8").split("\n").flatMap(parse);
}

/** Whether a call has to do with something at or below a folder. */
export function touches({ paths }: TracedCall, folder: string): boolean {
  return paths.some((path) => path === folder || path.startsWith(`${folder}/`));
}

function parse(line: string): TracedCall[] {
  const [, name, rest] = /^\d+ +(\w+)\((.*)$/.exec(line) ?? [];
  const result = /= (-?\d+)/.exec(line.slice(line.lastIndexOf(") =")))?.[1];
  if (name === undefined || rest === undefined || result === undefined) return [];
  const paths = [...rest.matchAll(/\d+<(\/[^>]*)>/g)].map(([, path]) => path ?? "");
  return [{ name, line, paths, result: Number(result) }];
}
