import { isSameState, reverseChanges } from "../../contract/compare-states.ts";
import { SandboxConflictError, SandboxRollbackError } from "../../errors/index.ts";
import type { Change, EntryState } from "../../model/change.ts";
import type { Conflict } from "../../model/conflict.ts";
import { findConflicts } from "./find-conflicts.ts";

const MOST_NAMED = 3;
/** What a folder needs of its owner while its entries are put into it. */
const OWN_BITS = 0o700;

/** @throws SandboxConflictError when a directory is not what the changes start from; nothing was touched. */
export async function refuseConflicts(root: string, changes: readonly Change[]): Promise<void> {
  const conflicts = await findConflicts(root, changes);
  const [first] = conflicts;
  if (first === undefined) return;
  const paths = conflicts.map(({ path }) => path);
  throw new SandboxConflictError(`Somebody else changed ${named(paths)} in ${root}`, {
    hint: "Roll the sandbox back to what is there now, and make the edits again.",
    data: {
      originalRestored: true,
      undoDataAt: null,
      failedPath: first.path,
      appliedCount: 0,
      conflicts,
    },
  });
}

/**
 * For an undo, that may be repeated: every path is as the commit left it, or as it was before.
 * @throws SandboxRollbackError when somebody changed one since; nothing was touched.
 */
export async function refuseForeignEdits(
  root: string,
  committed: readonly Change[],
): Promise<void> {
  const found = await findConflicts(root, reverseChanges(committed));
  const paths = found
    .filter(({ reason, ...sides }) => reason === "ancestorReplaced" || !isOnTheWay(sides))
    .map(({ path }) => path);
  if (paths.length === 0) return;
  throw new SandboxRollbackError(`Somebody changed ${named(paths)} in ${root} since the commit`, {
    hint: "Put back what was committed there, then undo again.",
    data: {
      reason: "foreignEdits",
      originalRestored: false,
      undoDataAt: null,
      asideAt: null,
      paths,
    },
  });
}

type Sides = Pick<Conflict, "base" | "theirs" | "ours">;

/** Whether what is there is one of the sides, or what a publication leaves that was cut short between them. */
function isOnTheWay({ base, theirs, ours }: Sides): boolean {
  if (isSameState(theirs, base) || isSameState(theirs, ours)) return true;
  // What another type takes the place of goes first.
  if (theirs === null) return base !== null && ours !== null && base.type !== ours.type;
  const sides = [base, ours]
    .flatMap((side) => side ?? [])
    .filter(({ type }) => type === theirs.type);
  const isFolder = theirs.type === "directory";
  // A folder that comes or goes is made before it gets what belongs to it.
  if (sides.length === 1) return isFolder;
  const modes = sides.flatMap(({ mode }) => (isFolder ? [mode, mode | OWN_BITS] : [mode]));
  const has = (isOf: (side: EntryState) => boolean): boolean => sides.some(isOf);
  return (
    sides.every(({ hash, target }) => hash === theirs.hash && target === theirs.target) &&
    modes.includes(theirs.mode) &&
    has(({ uid }) => uid === theirs.uid) &&
    has(({ gid }) => gid === theirs.gid) &&
    (isFolder || has(({ mtimeNs }) => mtimeNs === theirs.mtimeNs))
  );
}

function named(paths: readonly string[]): string {
  const rest = paths.length - MOST_NAMED;
  const shown = paths.slice(0, MOST_NAMED).join(", ");
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}
