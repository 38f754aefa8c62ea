import { SandboxPathError } from "cofferdam";
import type { PathInput } from "cofferdam";
import { conflictError, findClashes } from "./conflicts.ts";
import { inParallel } from "./in-parallel.ts";
import type { Edit } from "./object-state.ts";
import type { OpenSandbox } from "./open-sandbox.ts";

type Edited = readonly [string, Edit];

/** Takes edits back, at these paths and below them: the sandbox shows there what the bucket has. */
export async function dropEdits(sandbox: OpenSandbox, paths: readonly PathInput[]): Promise<void> {
  const edits = await editsAt(sandbox, paths);
  await sandbox.place.note(new Map(edits.map(([key]) => [key, null])));
}

/** Settles conflicts at these paths and below them. */
export async function resolveEdits(
  sandbox: OpenSandbox,
  paths: readonly PathInput[],
  how: "mine" | "theirs" | "merge",
): Promise<void> {
  const clashes = await findClashes(sandbox, await editsAt(sandbox, paths));
  if (clashes.length === 0) return;
  if (how === "merge") throw conflictError(sandbox, clashes, "merge");
  const settled = await inParallel(clashes, async ({ key, edit: { mine } }) => {
    if (how === "theirs") return [key, null] as const;
    const base = (await sandbox.bucket.get(key))?.version ?? null;
    return [key, base === null && mine === null ? null : { base, mine }] as const;
  });
  await sandbox.place.note(new Map(settled));
}

/**
 * The edits at paths and below them.
 * @throws SandboxPathError (`SANDBOX_PATH`, reason `unchanged`) for a path without any.
 */
async function editsAt(
  { place, location }: OpenSandbox,
  paths: readonly PathInput[],
): Promise<Edited[]> {
  const all = [...(await place.edits())];
  const found = paths.map((path) => {
    const text = Buffer.from(path).toString("utf8");
    const prefix = location.below(text);
    const isMeant = ([key]: Edited): boolean =>
      key.startsWith(prefix) || key === location.keyOf(path);
    const edits = all.filter(isMeant);
    if (edits.length > 0) return edits;
    throw new SandboxPathError(`There is no edit at ${JSON.stringify(text)}`, {
      data: { path: text, reason: "unchanged" },
    });
  });
  return [...new Map(found.flat())];
}
