import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type Cofferdam,
  type CofferdamOptions,
  type Sandbox,
  type SandboxEvent,
  openCofferdam,
} from "../../src/index.ts";
import { type MarkerWord, markerName } from "../fixtures/probe/marker.ts";
import { PROBES } from "../fixtures/probe/probes.ts";
import { tempFolder } from "../support/temp.ts";

/** One installation beside one real directory, for one test. */
export interface Site {
  readonly coffer: Cofferdam;
  readonly stateDirectory: string;
  /** The real directory: `a`, `b`, `sub/c` and a link. */
  readonly data: string;
  readonly events: SandboxEvent[];
}

/** Opens a fresh installation with the probes registered, and closes it when the test has finished. */
export async function openSite(options: CofferdamOptions = {}): Promise<Site> {
  const folder = tempFolder();
  const data = join(folder, "data");
  plantData(data);
  return reopenSite({ stateDirectory: join(folder, "state"), data }, options);
}

/** Opens the same installation once more, as another process would. */
export async function reopenSite(
  { stateDirectory, data }: Pick<Site, "stateDirectory" | "data">,
  options: CofferdamOptions = {},
): Promise<Site> {
  const events: SandboxEvent[] = [];
  const coffer = await openCofferdam({
    stateDirectory,
    config: false,
    strategies: PROBES,
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => coffer.close());
  return { coffer, stateDirectory, data, events };
}

/** A small tree with old times. */
export function plantData(data: string): void {
  mkdirSync(join(data, "sub"), { recursive: true });
  for (const name of ["a", "b", "sub/c"]) writeFileSync(join(data, name), `old ${name}\n`);
  run("ln", "-s", "a", join(data, "link"));
  run("find", data, "-exec", "touch", "-h", "-d", "2001-02-03 04:05:06.123456789", "{}", "+");
}

/** Makes a sandbox of the site's directory, with edits of every kind when asked. */
export async function sandboxOf(
  { coffer, data }: Pick<Site, "coffer" | "data">,
  strategy: string,
  planId = "plan",
): Promise<Sandbox> {
  return coffer.sandbox(await coffer.create(planId, data, { strategy }));
}

/** Edits a sandbox: one file changed, one added, one deleted. */
export async function edit(sandbox: Sandbox): Promise<void> {
  await sandbox.write("a", "new a\n");
  await sandbox.write("made/new", "new file\n");
  await sandbox.remove("b");
}

/** Where a probe keeps everything of a sandbox. */
export function privateFolder({ ref }: Pick<Sandbox, "ref">): string {
  return ref.metadata["folder"] as string;
}

/** Tells a probe what to do at a step. */
export async function mark(
  sandbox: Sandbox,
  step: string,
  ...words: MarkerWord[]
): Promise<string> {
  const file = join(privateFolder(sandbox), "workspace", markerName(step));
  writeFileSync(file, words.join(" "));
  return Promise.resolve(file);
}

/** Every name below a folder, with sizes of files, as `find` sees them; what is in a lock file is only for messages. */
export function listing(folder: string): string[] {
  const format = ["-name", "lock", "-printf", "%P\\n", "-o", "-printf", "%P %y %s\\n"];
  return run("find", folder, "-mindepth", "1", ...format)
    .trimEnd()
    .split("\n")
    .toSorted();
}

/** What a foreign program prints. */
export function run(command: string, ...args: string[]): string {
  const done = spawnSync(command, args, { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${command}: ${done.stderr}`);
  return done.stdout;
}
