import type { RelativePath } from "../../model/byte-path.ts";
import type { StatBuffer } from "../../platform/native/index.ts";
import { entryType, findEntry } from "../read-entry.ts";
import { sameAttributes } from "../tree-entry.ts";
import { type AppliedStep, readApplied, writeApplied } from "./applied-record.ts";
import { type EntryRecord, isSameContent, isSameEntry, lookAt, recordOf } from "./entry-record.ts";
import { readMovePlan, writeMovePlan } from "./moved-sources.ts";
import { type PublishContext, openContext } from "./publish-context.ts";
import { writeRecord } from "./record-file.ts";
import type { PublishPlace, RecordedEntry, Step } from "./step.ts";
import { packSteps } from "./step-codec.ts";
import { walkBelow } from "./walk-below.ts";

/** What counts as published from now on. */
export interface AdoptRequest extends PublishPlace {
  readonly paths: readonly RelativePath[];
}

/**
 * Takes the files and links that stand at these paths now for the ones that were published there: a program has
 * rewritten them and they mean the same. A published folder is taken with them where nothing else is different in it. An
 * undo then gives them to the sandbox instead of refusing them. Only records are written, the one that makes it count
 * last; idempotent.
 */
export function adoptEntries({ paths, ...place }: AdoptRequest): void {
  using context = openContext(place);
  const applied = readApplied(context);
  if (applied === null) return;
  const { list, stage } = context;
  const wanted = new Set(paths);
  const adopted = new Map<RelativePath, readonly RecordedEntry[]>();
  list.steps.forEach((step, at) => {
    const found = standIn(context, step, applied[at]!, wanted);
    if (found !== null) adopted.set(step.slot, found);
  });
  if (adopted.size === 0) return;
  const topOf = (slot: RelativePath): EntryRecord | undefined => adopted.get(slot)?.[0]?.[1];
  const plan = readMovePlan(stage.fd);
  if (plan.moves.length > 0) {
    const moves = plan.moves.map((move) => ({ ...move, ino: topOf(move.staged)?.ino ?? move.ino }));
    writeMovePlan(stage.fd, { ...plan, moves });
  }
  const steps = list.steps.map((step) => ({ ...step, staged: topOf(step.slot) ?? step.staged }));
  writeRecord(stage.fd, "steps", packSteps({ ...list, steps }), "now");
  writeApplied(
    stage.fd,
    applied.map((own, at) => ({
      ...own,
      published: adopted.get(steps[at]!.slot) ?? own.published,
    })),
  );
}

/** What stands in place of everything that a step published; null where that may not be taken for it. */
function standIn(
  context: PublishContext,
  step: Step,
  { published }: AppliedStep,
  wanted: ReadonlySet<RelativePath>,
): RecordedEntry[] | null {
  const { now } = context;
  if (step.staged === null || context.reachFolder(step.folder) === null) return null;
  const { fd, name } = context.placeOf(step);
  if (!lookAt(now, fd, name) || entryType(now.type) !== step.staged.type) return null;
  const found: RecordedEntry[] = [[step.path, recordOf(now)]];
  const top = published[0]?.[1];
  if (now.type !== "directory") {
    if (!wanted.has(step.path)) return null;
    return isRewritten(now, top) || isLikeKept(context, step) ? found : null;
  }
  if (!isLikeFolder(now, top)) return null;
  const expected = new Map(published.slice(1));
  let isWanted = false;
  let isOther = false;
  walkBelow(fd, name, step.path, (path, stat) => {
    const known = expected.get(path);
    expected.delete(path);
    found.push([path, recordOf(stat)]);
    if (known !== undefined && (isLikeFolder(stat, known) || isSameEntry(stat, known))) return;
    if (wanted.has(path) && isRewritten(stat, known)) isWanted = true;
    else isOther = true;
  });
  return isWanted && !isOther && expected.size === 0 ? found : null;
}

/** Whether a file has the rights and attributes of the one before, as it was given: then nobody set any. */
function isLikeKept(context: PublishContext, step: Step): boolean {
  const { fd, name } = context.placeOf(step);
  const kept = context.keptOf(step);
  const [present, old] = [findEntry(fd, name), findEntry(kept.fd, kept.name)];
  // With a further name it is in somebody's hands.
  if (present?.nlink !== 1 || old?.type !== present.type) return false;
  return sameAttributes(present, old);
}

/** Where only rights or attributes are different, somebody set them: that is an edit. */
function isRewritten(stat: StatBuffer, known: EntryRecord | undefined): boolean {
  return known !== undefined && !isSameContent(stat, known);
}

/** A folder that was made anew is none that somebody gave other rights. */
function isLikeFolder(stat: StatBuffer, known: EntryRecord | undefined): boolean {
  if (known?.type !== "directory" || stat.type !== "directory") return false;
  return stat.permissions === known.mode && stat.uid === known.uid && stat.gid === known.gid;
}
