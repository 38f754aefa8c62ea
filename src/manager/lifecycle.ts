import { withDefaults } from "../contract/capabilities.ts";
import type { SandboxStrategy } from "../contract/strategy.ts";
import {
  deleteCheckpoint,
  makeCheckpoint,
  restoreCheckpoint,
} from "./checkpoints/checkpoint-sandbox.ts";
import { cleanupSandbox } from "./cleanup-sandbox.ts";
import { commitSandbox } from "./commit-sandbox.ts";
import { createSandbox } from "./create-sandbox.ts";
import {
  dropPaths,
  removeEntry,
  renameEntry,
  resolvePaths,
  workspacePath,
  writeFile,
} from "./edit.ts";
import { type Engine, type Guarded, rememberGuarded } from "./engine.ts";
import { diffSandbox, listFolder, readFile } from "./look.ts";
import { rollbackSandbox, undoSandbox } from "./rollback-sandbox.ts";

type Optional = Pick<
  SandboxStrategy,
  | "getPath"
  | "list"
  | "remove"
  | "rename"
  | "drop"
  | "resolve"
  | "undoCommit"
  | "deleteCheckpoint"
  | "probe"
>;

/**
 * Puts the lifecycle around a strategy, built-in or not: the check of the ref, the plan's lock, the status table, the
 * durable record, and errors of one family. What comes out has the same contract and is what everybody else sees. The
 * two-phase methods stay inside: only transactions call them.
 */
export function guardStrategy(raw: SandboxStrategy, name: string, engine: Engine): SandboxStrategy {
  const guarded: Guarded = { engine, raw, name };
  const guard: SandboxStrategy = {
    ...(raw.capabilities !== undefined && { capabilities: raw.capabilities }),
    create: (planId, resource, options) =>
      createSandbox(guarded, planId, resource, { ...options, chosenBy: "call" }),
    read: (ref, path, options) => readFile(guarded, ref, path, options),
    write: (ref, path, content, options) => writeFile(guarded, ref, path, content, options),
    diff: (ref, options) => diffSandbox(guarded, ref, options),
    commit: (ref, options) => commitSandbox(guarded, ref, options),
    rollback: (ref, options) => rollbackSandbox(guarded, ref, options),
    checkpoint: (ref, id, options) => makeCheckpoint(guarded, ref, id, options),
    restoreCheckpoint: (ref, id, options) => restoreCheckpoint(guarded, ref, id, options),
    cleanup: (ref, options) => cleanupSandbox(guarded, ref, options),
    ...optionalMethods(guarded),
  };
  rememberGuarded(guard, guarded);
  return guard;
}

/** The optional methods that the strategy has and announces; what is not declared counts as absent. */
function optionalMethods(guarded: Guarded): Optional {
  const { raw } = guarded;
  const { path, pathCalls, drops, resolves, undoCommit } = withDefaults(raw.capabilities);
  const announced: Record<keyof Optional, boolean> = {
    getPath: path,
    list: pathCalls,
    remove: pathCalls,
    rename: pathCalls,
    drop: drops,
    resolve: resolves,
    undoCommit,
    deleteCheckpoint: raw.deleteCheckpoint !== undefined,
    probe: raw.probe !== undefined,
  };
  const all: Required<Optional> = {
    getPath: (ref, at, options) => workspacePath(guarded, ref, at, options),
    list: (ref, at, options) => listFolder(guarded, ref, at, options),
    remove: (ref, at, options) => removeEntry(guarded, ref, at, options),
    rename: (ref, from, to, options) => renameEntry(guarded, ref, from, to, options),
    drop: (ref, paths, options) => dropPaths(guarded, ref, paths, options),
    resolve: (ref, paths, how, options) => resolvePaths(guarded, ref, paths, how, options),
    undoCommit: (ref, options) => undoSandbox(guarded, ref, options),
    deleteCheckpoint: (ref, id) => deleteCheckpoint(guarded, ref, id),
    probe: async (location) => (await raw.probe?.(location)) ?? { works: true },
  };
  const names = Object.keys(all) as (keyof Optional)[];
  return Object.fromEntries(
    names.filter((name) => announced[name]).map((name) => [name, all[name]]),
  );
}
