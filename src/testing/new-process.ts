import { fileURLToPath } from "node:url";
import type { CofferdamOptions, Json, SandboxRef } from "../index.ts";
import { outputOf, runProgram } from "./run-program.ts";

/** One call in another process: the method's name and what follows the ref. `die` ends it by SIGKILL. */
export type RemoteCall = readonly [method: string, ...args: readonly Json[]];

/** What another process is told. */
export interface RemoteWork {
  readonly options: Json;
  readonly ref: SandboxRef;
  readonly calls: readonly RemoteCall[];
}

/** Makes calls in a process that knows nothing but the ref and where the installation is; gives their results. */
export async function callInNewProcess(
  { session }: { readonly session: { readonly options: CofferdamOptions } },
  ref: SandboxRef,
  calls: readonly RemoteCall[],
): Promise<readonly Json[]> {
  const work: RemoteWork = { options: session.options as unknown as Json, ref, calls };
  const program = fileURLToPath(new URL("./remote-program.js", import.meta.url));
  const done = await runProgram("/", process.execPath, [program], JSON.stringify(work));
  const isKilled = calls.at(-1)?.[0] === "die" && done.exitCode === null;
  if (isKilled) return [];
  return JSON.parse(outputOf("the other process", done).toString("utf8")) as Json[];
}
