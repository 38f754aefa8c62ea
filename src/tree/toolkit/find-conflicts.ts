import { isSameState } from "../../contract/compare-states.ts";
import { PathEscapeError } from "../../errors/index.ts";
import type { Change, EntryState } from "../../model/change.ts";
import type { Conflict } from "../../model/conflict.ts";
import { type RelativePath, ancestorsOf, displayPath, toBytePath } from "../../model/byte-path.ts";
import { listBeneath } from "../beneath.ts";
import { readEntryState } from "./tree-state.ts";

/**
 * The changes that cannot be published to a directory, because it is not what they start from: somebody else changed
 * the same entry, took the folder around it away, or put something into a folder that is to go.
 */
export async function findConflicts(
  root: string,
  changes: readonly Change[],
): Promise<readonly Conflict[]> {
  const known = new Map(changes.map((change) => [change.path, change]));
  const conflicts: Conflict[] = [];
  for (const { path, before, after } of changes) {
    const theirs = await lookAt(root, path, known);
    const isAlone = before === null && (await isWithoutFolder(root, path, known));
    const reason = theirs === undefined || isAlone ? "ancestorReplaced" : reasonOf(before, theirs);
    if (reason !== null) {
      conflicts.push({ path, reason, base: before, theirs: theirs ?? null, ours: after });
    } else if (before?.type === "directory" && after?.type !== "directory") {
      conflicts.push(...(await strangersIn(root, path, known)));
    }
  }
  return conflicts;
}

/** Whether the folder that a new entry belongs into is not there, nor made by the changes. */
async function isWithoutFolder(
  root: string,
  path: string,
  known: ReadonlyMap<string, Change>,
): Promise<boolean> {
  const folder = path.slice(0, Math.max(0, path.lastIndexOf("/")));
  if (known.has(folder)) return false;
  return (await lookAt(root, folder, known))?.type !== "directory";
}

/** What somebody put into a folder that is to go. */
async function strangersIn(
  root: string,
  folder: string,
  known: ReadonlyMap<string, Change>,
): Promise<Conflict[]> {
  const entries = listBeneath(toBytePath(root), toBytePath(folder) as RelativePath);
  const strangers = entries
    .map(({ name }) => `${folder}/${name}`)
    .filter((path) => !known.has(path));
  return Promise.all(
    strangers.map(async (path) => {
      const theirs = await readEntryState(root, path);
      return { path, reason: "exists", base: null, theirs, ours: null } as const;
    }),
  );
}

/** Undefined where a link stands on the way; null where the changes themselves put or remove it. */
async function lookAt(
  root: string,
  path: string,
  known: ReadonlyMap<string, Change>,
): Promise<EntryState | null | undefined> {
  try {
    return await readEntryState(root, path);
  } catch (error) {
    if (!(error instanceof PathEscapeError)) throw error;
    const above = ancestorsOf(toBytePath(path) as RelativePath).map((at) => displayPath(at));
    return above.some((at) => known.get(at)?.kind === "typeChanged") ? null : undefined;
  }
}

function reasonOf(
  before: EntryState | null,
  theirs: EntryState | null,
): "exists" | "missing" | "changed" | null {
  if (isSameState(before, theirs)) return null;
  if (before === null) return "exists";
  return theirs === null ? "missing" : "changed";
}
