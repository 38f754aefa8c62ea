import type { CallOptions } from "../contract/strategy.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { PathInput } from "../model/byte-path.ts";
import type { Change } from "../model/change.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import type { Engine, Guarded } from "./engine.ts";
import { asPathError } from "./failures.ts";
import { addressOf, pathText, plainPath } from "./path-arguments.ts";
import { moveRecord } from "./record-moves.ts";
import { type SandboxCall, withSandbox } from "./with-sandbox.ts";

type Edit = "write" | "remove" | "rename" | "getPath";

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
