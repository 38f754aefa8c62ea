import { RecordDamagedError } from "../../errors/index.ts";
import type { RelativePath } from "../../model/byte-path.ts";
import { statFd, throwUnlessErrno } from "../../platform/native/index.ts";
import { readFolderAttributes } from "../folder-attributes.ts";
import { type AppliedStep, isStillStaged, readApplied } from "./applied-record.ts";
import { isSameEntry, lookAt } from "./entry-record.ts";
import type { Place } from "./move-entry.ts";
import { readMovePlan } from "./moved-sources.ts";
import { type PublishContext, openContext } from "./publish-context.ts";
import type { PublishPlace, RecordedEntry, Step } from "./step.ts";
import { isEqual } from "./touched-folders.ts";
import { walkBelow } from "./walk-below.ts";

/** Whether a commit can be taken back exactly. */
export type UndoCheck =
  | { readonly status: "ready" }
  /** Somebody else changed these paths after the commit. */
  | { readonly status: "foreignEdits"; readonly paths: readonly RelativePath[] }
  /** What is needed is not there or not what was kept; `what` names records, or paths of old entries. */
  | { readonly status: "undoDataMissing"; readonly what: readonly string[] };

/**
 * Tells whether `reverseSteps` would bring the tree back exactly and overwrite nobody's work. Changes nothing.
 */
export function checkUndo(place: PublishPlace): UndoCheck {
  try {
    using context = openContext(place);
    const applied = readApplied(context);
    if (applied === null) return { status: "undoDataMissing", what: ["applied"] };
    // Without it the sandbox could not have its files back.
    readMovePlan(context.stage.fd);
    return check(context, applied);
  } catch (error) {
    if (error instanceof RecordDamagedError) {
      return { status: "undoDataMissing", what: [error.data.file] };
    }
    throwUnlessErrno(error, "ENOENT");
    return { status: "undoDataMissing", what: ["stage"] };
  }
}

function check(context: PublishContext, applied: readonly AppliedStep[]): UndoCheck {
  const foreign = new Set<RelativePath>();
  const missing: string[] = [];
  const { steps, folders, root } = context.list;
  if (statFd(context.root.fd).ino !== root.ino) {
    return { status: "foreignEdits", paths: steps.map(({ path }) => path) };
  }
  folders.forEach(({ path, after }, position) => {
    if (after === null) return;
    const fd = context.reachFolder(position);
    if (fd === null || !isEqual(readFolderAttributes(fd), after)) foreign.add(path);
  });
  steps.forEach((step, at) => {
    const own = applied[at];
    if (own === undefined) return;
    const changed =
      context.reachFolder(step.folder) === null
        ? [step.path]
        : differences(context, context.placeOf(step), step, own.published);
    for (const path of changed) foreign.add(path);
    const isOurs = step.staged === null || own.published[0]?.[1].ino === step.staged.ino;
    const isLeft = !isOurs && isStillStaged(context, step);
    const lost = isLeft ? [] : differences(context, context.keptOf(step), step, own.kept);
    // An old file that has a further name in somebody's hands was changed through that name.
    if (lost.length > 0 && isShared(context, step, own)) foreign.add(step.path);
    else missing.push(...lost);
  });
  if (missing.length > 0) return { status: "undoDataMissing", what: missing };
  return foreign.size === 0
    ? { status: "ready" }
    : { status: "foreignEdits", paths: [...foreign].sort() };
}

function isShared({ now }: PublishContext, { path }: Step, { kept }: AppliedStep): boolean {
  const old = kept[0]?.[1];
  return kept[0]?.[0] === path && old?.type === "file" && now.ino === old.ino && now.nlink > 1;
}

/** Paths at or below a place that are not what was recorded there. */
function differences(
  { now }: PublishContext,
  { fd, name }: Place,
  step: Step,
  recorded: readonly RecordedEntry[],
): RelativePath[] {
  const top = recorded[0]?.[1];
  const isThere = lookAt(now, fd, name);
  if (top === undefined) return isThere ? [step.path] : [];
  if (!isThere || !isSameEntry(now, top)) return [step.path];
  if (top.type !== "directory") return [];
  const expected = new Map(recorded.slice(1));
  const found: RelativePath[] = [];
  walkBelow(fd, name, step.path, (path, stat) => {
    const record = expected.get(path);
    expected.delete(path);
    if (record === undefined || !isSameEntry(stat, record)) found.push(path);
  });
  return [...found, ...expected.keys()];
}
