import type { CallOptions, Resolution, SandboxLayers } from "../contract/strategy.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { PathInput } from "../model/byte-path.ts";
import type { Change } from "../model/change.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import type { Engine, Guarded } from "./engine.ts";
import { asPathError } from "./failures.ts";
import { addressOf, pathText, plainPath } from "./path-arguments.ts";
import { moveRecord } from "./record-moves.ts";
import { type SandboxCall, withSandbox } from "./with-sandbox.ts";

type Edit = "write" | "remove" | "rename" | "getPath" | "drop" | "resolve";

/** Writes a file. The first edit makes the sandbox ACTIVE; a write that failed leaves the status as it was. */
export function writeFile(
  guarded: Guarded,
  ref: SandboxRef,
  path: PathInput,
  content: Uint8Array | string,
  options?: CallOptions,
): Promise<Change> {
  return edit(guarded, ref, "write", path, options, (plain) =>
    guarded.raw.write(ref, plain, content, options),
  );
}

/** Removes an entry, as an edit. */
export function removeEntry(
  guarded: Guarded,
  ref: SandboxRef,
  path: PathInput,
  options?: CallOptions,
): Promise<void> {
  return edit(guarded, ref, "remove", path, options, async (plain) =>
    guarded.raw.remove?.(ref, plain, options),
  );
}

/** Moves an entry, as an edit. */
export function renameEntry(
  guarded: Guarded,
  ref: SandboxRef,
  from: PathInput,
  to: PathInput,
  options?: CallOptions,
): Promise<void> {
  return edit(guarded, ref, "rename", from, options, async (plain, root) =>
    guarded.raw.rename?.(ref, plain, plainPath(to, root, "rename"), options),
  );
}

/** Takes the edits at some paths back, as an edit of its own. */
export function dropPaths(
  guarded: Guarded,
  ref: SandboxRef,
  paths: readonly PathInput[],
  options?: CallOptions,
): Promise<void> {
  return editPaths(guarded, ref, "drop", paths, options, async (plain) =>
    guarded.raw.drop?.(ref, plain, options),
  );
}

/** Settles conflicts at some paths, as an edit. */
export function resolvePaths(
  guarded: Guarded,
  ref: SandboxRef,
  paths: readonly PathInput[],
  how: Resolution,
  options?: CallOptions,
): Promise<void> {
  return editPaths(guarded, ref, "resolve", paths, options, async (plain) =>
    guarded.raw.resolve?.(ref, plain, how, options),
  );
}

function editPaths(
  guarded: Guarded,
  ref: SandboxRef,
  operation: "drop" | "resolve",
  paths: readonly PathInput[],
  options: CallOptions | undefined,
  work: (plain: readonly PathInput[]) => Promise<void>,
): Promise<void> {
  return edit(guarded, ref, operation, paths[0] ?? "", options, (_first, root) =>
    work(paths.map((path) => plainPath(path, root, operation))),
  );
}

/** Hands out a path that others may write to: the sandbox is recorded as ACTIVE before the caller knows the path. */
export function workspacePath(
  guarded: Guarded,
  ref: SandboxRef,
  path: PathInput = "",
  options?: CallOptions,
): Promise<string> {
  return edit(guarded, ref, "getPath", path, options, async (plain) =>
    String(await guarded.raw.getPath?.(ref, plain, options)),
  );
}

/** Hands out layers for a command that mounts them itself; null when the strategy has none. */
export function beginLayers(guarded: Guarded, ref: SandboxRef): Promise<SandboxLayers | null> {
  return edit(
    guarded,
    ref,
    "getPath",
    "",
    undefined,
    async () => (await guarded.raw.beginLayers?.(ref)) ?? null,
  );
}

/** The command has ended that had the layers mounted. */
export function endLayers(guarded: Guarded, ref: SandboxRef): Promise<void> {
  return edit(guarded, ref, "getPath", "", undefined, async () => guarded.raw.endLayers?.(ref));
}

/** Paths that a command which had the layers mounted could not change. */
export function unchangeable(guarded: Guarded, ref: SandboxRef): Promise<readonly string[]> {
  return edit(
    guarded,
    ref,
    "getPath",
    "",
    undefined,
    async () => (await guarded.raw.unchangeable?.(ref)) ?? [],
  );
}

/** A command has ended: what it edited may be merged later. */
export function keepBases(guarded: Guarded, ref: SandboxRef): Promise<void> {
  return edit(guarded, ref, "getPath", "", undefined, async () => guarded.raw.keepBases?.(ref));
}

/** Records that a sandbox is in use. */
export async function activate(engine: Engine, record: SandboxRecord): Promise<SandboxRecord> {
  return record.status === "ACTIVE" ? record : moveRecord(engine, record, "ACTIVE");
}

function edit<T>(
  guarded: Guarded,
  ref: SandboxRef,
  operation: Edit,
  path: PathInput,
  options: CallOptions | undefined,
  work: (plain: PathInput, root: string) => Promise<T>,
): Promise<T> {
  const failure = (thrown: unknown): ReturnType<SandboxCall["failure"]> =>
    asPathError(thrown, pathText(path), operation, "unwritable");
  const call: SandboxCall = { ref, operation, access: "change", options, failure };
  return withSandbox(guarded, call, async (record) => {
    const { location } = record.resource;
    const result = await work(addressOf(guarded, path, location, operation), location);
    await activate(guarded.engine, record);
    return result;
  });
}
