import type { CallOptions, DiffOptions, ListedEntry } from "../contract/strategy.ts";
import type { PathInput } from "../model/byte-path.ts";
import type { DiffView } from "../model/diff-view.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import type { Guarded } from "./engine.ts";
import { asPathError } from "./failures.ts";
import { addressOf, pathText, plainPath } from "./path-arguments.ts";
import { type SandboxCall, withSandbox } from "./with-sandbox.ts";

/** Reads a file. Leaves the status as it is. */
export function readFile(
  guarded: Guarded,
  ref: SandboxRef,
  path: PathInput,
  options?: CallOptions,
): Promise<Uint8Array> {
  return withSandbox(guarded, look(ref, "read", path, options), ({ resource }) =>
    guarded.raw.read(ref, addressOf(guarded, path, resource.location, "read"), options),
  );
}

/** Lists a folder. Leaves the status as it is. */
export function listFolder(
  guarded: Guarded,
  ref: SandboxRef,
  path: PathInput,
  options?: CallOptions,
): Promise<readonly ListedEntry[]> {
  return withSandbox(guarded, look(ref, "list", path, options), async ({ resource }) => {
    const plain = plainPath(path, resource.location, "list");
    return (await guarded.raw.list?.(ref, plain, options)) ?? [];
  });
}

/** Tells what a commit would do. Leaves the status as it is; also its text is read under the lock. */
export async function diffSandbox(
  guarded: Guarded,
  ref: SandboxRef,
  options?: DiffOptions,
): Promise<DiffView> {
  const call = look(ref, "diff", "", options);
  const view = await withSandbox(guarded, call, () => guarded.raw.diff(ref, options));
  const { sandboxId, base, changes, summary, skipped, digest, isEmpty } = view;
  const { drift, unit, commits, strayCommits } = view;
  const text: DiffView["text"] = (wanted) => withSandbox(guarded, call, () => view.text(wanted));
  const told = { sandboxId, base, changes, summary, skipped, digest, isEmpty, text };
  return {
    ...told,
    ...(drift !== undefined && { drift }),
    ...(unit !== undefined && { unit }),
    ...(commits !== undefined && { commits }),
    ...(strayCommits !== undefined && { strayCommits }),
  };
}

function look(
  ref: SandboxRef,
  operation: "read" | "list" | "diff",
  path: PathInput,
  options: CallOptions | undefined,
): SandboxCall {
  const failure = (thrown: unknown): ReturnType<SandboxCall["failure"]> =>
    asPathError(thrown, pathText(path), operation, "unreadable");
  return { ref, operation, access: "look", options, failure };
}
