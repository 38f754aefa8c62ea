import type { BytePath } from "../../model/byte-path.ts";
import { nameOf, parentOf } from "../../model/byte-path.ts";
import type { Change, ChangeKind } from "../../model/change.ts";
import { close, throwUnlessErrno } from "../../platform/native/index.ts";
import { typed } from "../beneath.ts";
import { hashAt, hashFile } from "../content.ts";
import { publishedOwners } from "../owners.ts";
import { OutwardLinks } from "../outward-link.ts";
import { publicPath } from "../public-path.ts";
import { newSpecialBits } from "../special-bits.ts";
import { findIdentity } from "../read-entry.ts";
import { openFolder, withRoot } from "../scan/open-directory.ts";
import type { TreeChange } from "../tree-change.ts";
import { sameIdentity } from "../tree-entry.ts";
import { entryState } from "./entry-state.ts";
import { findRenames } from "./find-renames.ts";
import type { ReadChange } from "./read-change.ts";

/** Raw changes to be shown. */
export interface DescribeRequest {
  readonly root: BytePath;
  readonly changes: readonly TreeChange[];
}

/** Reads what is needed to show the changes exactly: hashes, kinds, renames, warnings. Implied ones are left out. */
export function describeChanges({ root, changes }: DescribeRequest): Change[] {
  return withRoot(root, (rootFd) => {
    const listed = changes.filter((change) => change.implied !== true);
    const read = listed.map((change) => typed(root, change.path, () => readChange(change, rootFd)));
    const outward = new OutwardLinks(root, changes);
    const byPath = new Map(read.map((change) => [change.path, change]));
    const renames = findRenames(read, (change) => hashBase(change, rootFd));
    return read.flatMap((change): Change[] => {
      const kind = kindOf(change);
      if (kind === null) return [];
      const { from, to } = renames.get(change.path) ?? {};
      const origin = from === undefined ? undefined : byPath.get(from)?.before;
      const { after, notes: lost } = publishedOwners(change, origin);
      const notes = [...notesOf(change, outward), ...lost];
      return [
        {
          ...publicPath(change.path),
          kind,
          before: change.before && entryState(change.before, change.beforeHash),
          after: after && entryState(after, change.afterHash),
          ...(from !== undefined && { renamedFrom: publicPath(from).path }),
          ...(to !== undefined && { renamedTo: publicPath(to).path }),
          ...(notes.length > 0 && { notes }),
        },
      ];
    });
  });
}

function readChange(change: TreeChange, rootFd: number): ReadChange {
  const { before, after, source } = change;
  const afterHash = after?.type === "file" && source !== null ? hashFile(source) : null;
  const isFileBoth = before?.type === "file" && after?.type === "file";
  // Removed content is read only when it could be the source of a rename.
  const beforeHash = isFileBoth
    ? change.contentDiffers === false
      ? afterHash
      : hashBase(change, rootFd)
    : null;
  const differs =
    change.contentDiffers ?? (isFileBoth && (beforeHash === null || beforeHash !== afterHash));
  return { ...change, beforeHash, afterHash, differs };
}

/** Hash of the base file, or null when the real one no longer is the base. */
function hashBase(change: TreeChange, rootFd: number): string | null {
  if (change.before?.type !== "file") return null;
  try {
    const fd = openFolder(rootFd, parentOf(change.path));
    try {
      const real = findIdentity(fd, nameOf(change.path));
      if (real === null || !sameIdentity(real, change.before)) return null;
      return hashAt(fd, nameOf(change.path));
    } finally {
      close(fd);
    }
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EXDEV");
    return null;
  }
}

function kindOf(change: ReadChange): ChangeKind | null {
  const { before, after } = change;
  if (before === null) return after === null ? null : "added";
  if (after === null) return "deleted";
  if (before.type !== after.type) return "typeChanged";
  if (after.type === "symlink" && before.target !== after.target) return "linkChanged";
  if (change.differs) return "modified";
  return before.mode === after.mode ? "attributesChanged" : "modeChanged";
}

function notesOf(change: TreeChange, outward: OutwardLinks): string[] {
  const notes = [...(change.notes ?? [])];
  const { before, after } = change;
  if (outward.has(change)) notes.push("link points outside");
  if (after !== null && newSpecialBits(before, after) !== 0) notes.push("sets special mode bits");
  return notes;
}
