import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import { withGitSettings } from "./git-settings.ts";
import { inspectForView } from "./machine.ts";
import { movedRepositories } from "./moved-repository.ts";
import { type Outside, type OutsideReport, listOutside } from "./outside.ts";
import { type Command, type CommandEnd, nowhere, runEnclosed, runPlainly } from "./run-command.ts";
import type { ShownFolder, ShownSandbox } from "./shown-sandbox.ts";
import { withSubmodules } from "./submodule-links.ts";
import { type View, planView } from "./view.ts";

/** What a command is to see. */
export interface ViewOptions {
  /** The private folder of the run; what is left in it goes with it. */
  readonly folder: string;
  /** The lock of the run. */
  readonly descriptor: number;
  readonly state: string;
  readonly masked: readonly string[];
  readonly sandboxes: readonly ShownSandbox[];
  readonly outside: Outside;
  readonly network: boolean;
}

/** How a command ended, and what it did outside the sandboxes. */
export interface ViewEnd extends CommandEnd {
  /** Null where nothing is thrown away. */
  readonly outside: OutsideReport | null;
}

/**
 * Runs a command that sees every sandbox at the real path of its resource.
 * @throws ViewError when no namespace can be had; the command was not started.
 */
export async function runInView(command: Command, options: ViewOptions): Promise<ViewEnd> {
  const { descriptor, network, outside } = options;
  const moved = await movedRepositories(options, command.env);
  const request = { ...options, moved, ...inspectForView() };
  const view = planView(request);
  const env = withGitSettings(command.env, view.settings);
  makePlaces(options.folder, view);
  const { isRoot } = request;
  const end = await withSubmodules(view.worktrees, () =>
    runEnclosed({ ...command, env }, { view, isRoot, network, descriptor }),
  );
  return { ...end, outside: outside === "allow" ? null : listOutside(view.layers) };
}

/** Runs a command in the workspaces themselves: where the view would have had its working directory, as far as it can be. */
export async function runInWorkspaces(
  command: Command,
  workspaces: readonly ShownFolder[],
): Promise<CommandEnd> {
  const cwd = placeOf(command.cwd, workspaces);
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) throw nowhere(command.cwd);
  return runPlainly({ ...command, cwd });
}

function makePlaces(folder: string, view: View): void {
  mkdirSync(join(folder, "root"));
  for (const { folder: layer, at } of view.layers) {
    for (const name of ["upper", "work"]) mkdirSync(join(layer, name), { recursive: true });
    // The kernel's option for a layer cannot hold every name; that of a link can.
    symlinkSync(at, join(layer, "lower"));
    resemble(join(layer, "upper"), at);
  }
  for (const [file, text] of view.files) writeFileSync(file, text);
  for (const [link, target] of view.links) symlinkSync(target, link);
}

/** The root of a layer is the root of what is seen: `/tmp` must stay open to everybody. */
function resemble(folder: string, model: string): void {
  const found = statSync(model, { throwIfNoEntry: false });
  // A mount that has just gone is not shown at all.
  if (found === undefined) return;
  chmodSync(folder, found.mode & 0o7777);
  if (process.geteuid?.() === 0) chownSync(folder, found.uid, found.gid);
}

/** Where a working directory is in the workspaces: that of the resource it lies in, else the first one. */
function placeOf(cwd: string, workspaces: readonly ShownFolder[]): string {
  const real = existsSync(cwd) ? realpathSync.native(cwd) : cwd;
  for (const { location, workspace } of workspaces) {
    const path = relative(location, real);
    if (path !== ".." && !path.startsWith("../")) return join(workspace, path);
  }
  return workspaces[0]?.workspace ?? cwd;
}
