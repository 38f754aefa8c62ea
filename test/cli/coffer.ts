import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ChildResult } from "../support/child.ts";
import { commandLine } from "../support/package-folder.ts";
import { tempFolder } from "../support/temp.ts";

/** The command line of the package. */
export const program = commandLine();

/** The Node that every user may start. */
export const node = process.env["COFFERDAM_TEST_NODE"] ?? process.execPath;

/** A home of one's own with a project in it. */
export interface Home {
  readonly folder: string;
  /** The project; the working directory of commands. */
  readonly project: string;
  readonly stateDirectory: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Makes a home whose project holds these files; gone when the test has finished. */
export function makeHome(files: Readonly<Record<string, string>> = { "file.txt": "text\n" }): Home {
  const folder = tempFolder();
  const project = join(folder, "project");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    TMPDIR: join(folder, "tmp"),
    XDG_STATE_HOME: join(folder, "state"),
    XDG_CACHE_HOME: process.env["XDG_CACHE_HOME"] ?? join(folder, ".cache"),
    ...coverage(),
  };
  for (const path of [project, env.TMPDIR]) mkdirSync(path);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  return { folder, project, stateDirectory: join(env.XDG_STATE_HOME, "cofferdam"), env };
}

/** Runs the command line and waits for its end. */
export function coffer(
  home: Home,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): ChildResult {
  return run(home, node, [program, ...args], options);
}

/** Runs any program in a home. */
export function run(
  home: Home,
  command: string,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): ChildResult {
  const done = spawnSync(command, args, {
    cwd: options.cwd ?? home.project,
    env: { ...home.env, ...options.env },
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  if (done.error) throw done.error;
  return { code: done.status, signal: done.signal, stdout: done.stdout, stderr: done.stderr };
}

/** Everything in a folder as `find` sees it. */
export function listing(folder: string): string {
  const format = "%P %y %m %u %g %s %T@ %l\n";
  return spawnSync("find", [folder, "-printf", format], { encoding: "utf8" }).stdout;
}

function coverage(): Record<string, string> {
  const folder = process.env["NODE_V8_COVERAGE"];
  return folder === undefined ? {} : { NODE_V8_COVERAGE: folder };
}
