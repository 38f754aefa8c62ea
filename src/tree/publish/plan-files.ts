import { type BytePath, type RelativePath, nameOf, parentOf } from "../../model/byte-path.ts";
import {
  NativeError,
  OPEN,
  StatBuffer,
  close,
  getXattr,
  getXattrAt,
  listXattrs,
  listXattrsAt,
  openAt,
  throwUnlessErrno,
} from "../../platform/native/index.ts";
import { isOverlayMark } from "../read-entry.ts";
import type { TreeChange } from "../tree-change.ts";
import type { TreeEntry } from "../tree-entry.ts";
import { type EntryRecord, lookAt, recordOf } from "./entry-record.ts";
import type { OpenRoot } from "./open-place.ts";
import type { MovedSource } from "./moved-sources.ts";
import type { StepDraft } from "./plan-steps.ts";
import type { SourceFolders } from "./source-folders.ts";

const ESTALE = 116;

/** How one file gets into the stage. */
export interface FilePlan {
  readonly change: TreeChange;
  readonly source: BytePath;
  readonly after: TreeEntry;
  /** Place below the folder of staged entries. */
  readonly staged: RelativePath;
  readonly how:
    | { readonly by: "move"; readonly moved: MovedSource }
    | { readonly by: "copy" }
    /** A further name of another staged file. */
    | { readonly by: "link"; readonly of: RelativePath }
    /** A further name of a real file that nobody changed; made when the step is applied. */
    | { readonly by: "realLink"; readonly target: RelativePath; readonly record: EntryRecord };
}

/** Where an entry of a draft is staged. */
export function stagedPlace(
  draft: StepDraft,
  slot: RelativePath,
  path: RelativePath,
): RelativePath {
  return `${slot}${path.slice(draft.path.length)}` as RelativePath;
}

interface Inspected {
  readonly plan: Omit<FilePlan, "how">;
  readonly key: string;
  readonly nlink: number;
  readonly ino: bigint;
  readonly differs: MovedSource["attributes"];
}

/**
 * Decides for every file how it is staged, after a look at its source. Hard links among the sources stay hard links.
 * @throws NativeError ESTALE when a source is no longer what the change says.
 */
export function planFiles(
  wanted: Iterable<{ readonly change: TreeChange; readonly staged: RelativePath }>,
  sources: SourceFolders,
  root: OpenRoot,
): FilePlan[] {
  const stat = new StatBuffer();
  const movable = new Map<string, number>();
  const inspected: Inspected[] = [];
  const paths = new Set<RelativePath>();
  for (const { change, staged } of wanted) {
    const seen = inspect(change, staged, sources, stat);
    if (change.take === "move") movable.set(seen.key, (movable.get(seen.key) ?? 0) + 1);
    inspected.push(seen);
    paths.add(change.path);
  }
  const first = new Map<string, RelativePath>();
  const plans = inspected.map(({ plan, key, nlink, ino, differs }): FilePlan => {
    const { change, staged, source } = plan;
    if (change.linkTo !== undefined && !paths.has(change.linkTo)) {
      const record = linkable(root, change.linkTo, stat);
      const target = change.linkTo;
      if (record !== null) return { ...plan, how: { by: "realLink", target, record } };
    }
    // A source with a name that stays in the sandbox would still be written through that name.
    if (change.take === "move" && movable.get(key) === nlink) {
      const marks = overlayMarks(sources.open(source), nameOf(source), change.marks);
      const moved = { staged, source, ino, marks, attributes: differs };
      return { ...plan, how: { by: "move", moved } };
    }
    const of = nlink > 1 ? first.get(key) : undefined;
    if (of !== undefined) return { ...plan, how: { by: "link", of } };
    first.set(key, staged);
    return { ...plan, how: { by: "copy" } };
  });
  return linkPartners(plans);
}

/** Copies that are said to be further names of another change become links to what is staged for that one. */
function linkPartners(plans: readonly FilePlan[]): FilePlan[] {
  const byPath = new Map(plans.map((plan) => [plan.change.path, plan]));
  const needed = new Set(plans.flatMap(({ how }) => (how.by === "link" ? [how.of] : [])));
  return plans.map((plan) => {
    const { linkTo, path } = plan.change;
    const partner = linkTo === undefined ? undefined : byPath.get(linkTo);
    if (partner === undefined || plan.how.by !== "copy" || needed.has(plan.staged)) return plan;
    if (partner.how.by === "realLink" || partner === plan) return plan;
    const of = partner.how.by === "link" ? partner.how.of : partner.staged;
    const linked: FilePlan = { ...plan, how: { by: "link", of } };
    byPath.set(path, linked);
    needed.add(of);
    return linked;
  });
}

function inspect(
  change: TreeChange,
  staged: RelativePath,
  sources: SourceFolders,
  stat: StatBuffer,
): Inspected {
  const { source, after, path } = change;
  if (source === null || after === null) throw new NativeError(ESTALE, "stage", path);
  const fd = sources.open(source);
  stat.readAt(fd, nameOf(source));
  const isRelinked = change.linkTo !== undefined;
  const isAsSaid = stat.sizeNumber === after.size && stat.mtimeNs === after.mtimeNs;
  if (stat.type !== "file" || (!isAsSaid && !isRelinked)) {
    throw new NativeError(ESTALE, "stage", source);
  }
  const { permissions: mode, uid, gid } = stat;
  const isEqual = mode === after.mode && uid === after.uid && gid === after.gid;
  // An ordinary user takes marks off such a file only by opening it up for a moment.
  const isClosed = (mode & 0o200) === 0 && process.geteuid?.() !== 0;
  return {
    plan: { change, source, after, staged },
    key: `${stat.dev}:${stat.ino}`,
    nlink: stat.nlink,
    ino: stat.ino,
    differs: isEqual && !isClosed ? null : { mode, uid, gid },
  };
}

function overlayMarks(
  dirFd: number,
  name: string,
  known: readonly string[] | undefined,
): MovedSource["marks"] {
  if (known !== undefined) {
    return marksOf(known, (attribute) => getXattrAt(dirFd, name, attribute));
  }
  try {
    // An open file answers both questions for the price of one look-up.
    const fd = openAt(dirFd, name, OPEN.readOnly | OPEN.noFollow | OPEN.nonBlocking);
    try {
      return marksOf(listXattrs(fd), (attribute) => getXattr(fd, attribute));
    } finally {
      close(fd);
    }
  } catch (error) {
    throwUnlessErrno(error, "EACCES");
    return marksOf(listXattrsAt(dirFd, name), (attribute) => getXattrAt(dirFd, name, attribute));
  }
}

function marksOf(
  attributes: readonly string[],
  valueOf: (attribute: string) => Buffer | undefined,
): MovedSource["marks"] {
  const marks = attributes.filter(isOverlayMark);
  if (marks.length === 0) return null;
  return Object.fromEntries(marks.map((mark) => [mark, valueOf(mark)?.toString("latin1") ?? ""]));
}

/** The record of a real file that may be given a further name; null when it has to be a copy. */
function linkable(root: OpenRoot, target: RelativePath, stat: StatBuffer): EntryRecord | null {
  try {
    if (!lookAt(stat, root.folders.open(parentOf(target)), nameOf(target))) return null;
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP");
    return null;
  }
  const user = process.geteuid?.();
  // The kernel refuses links to files of others (fs.protected_hardlinks).
  return stat.type === "file" && (user === 0 || stat.uid === user) ? recordOf(stat) : null;
}
