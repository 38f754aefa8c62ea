import { RecordDamagedError } from "../../errors/index.ts";
import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { type StatBuffer, fsync } from "../../platform/native/index.ts";
import { readTimes, withTimes } from "./carried-times.ts";
import { type EntryRecord, lookAt, recordOf } from "./entry-record.ts";
import { type Place, renameOver } from "./move-entry.ts";
import type { PublishContext } from "./publish-context.ts";
import { readRecord, writeRecord } from "./record-file.ts";
import { settleMoved } from "./settle-moved.ts";
import type { RecordedEntry, Step } from "./step.ts";
import type { Shelved } from "./steps-result.ts";
import { type PackedEntries, packEntries, unpackEntries } from "./step-codec.ts";
import { walkBelow } from "./walk-below.ts";

/** What one step left behind. */
export interface AppliedStep {
  /** What is at the path now, with everything below it; empty when nothing is. */
  readonly published: readonly RecordedEntry[];
  /** What was there before and now lies in the stage, with everything below it; empty when nothing was. */
  readonly kept: readonly RecordedEntry[];
  /** Whether what was there before is proven to have been what the step expected, right up to the step. */
  readonly isVouched: boolean;
}

type PackedStep = readonly [published: PackedEntries, kept: PackedEntries, isVouched?: 1];

const NAME = "applied";
/** The same record while the steps are taken back: then nobody may take them for applied any more. */
const REVERSING = "reversing";

/** Looks at what the steps left in the tree and in the stage, and puts moved directories right. */
export function lookAtApplied(context: PublishContext): AppliedStep[] {
  return context.list.steps.map((step) => ({
    published:
      step.staged === null ? [] : collect(context.now, context.placeOf(step), step, step.staged),
    kept:
      context.leavesForeign && isStillStaged(context, step)
        ? []
        : collect(context.slot, context.keptOf(step), step, step.old),
    isVouched: context.custody.isVouched(step.slot),
  }));
}

/** Whether a step was left undone because of what somebody else put at its path. */
export function isStillStaged(context: PublishContext, step: Step): boolean {
  const { fd, name } = context.slotOf(step);
  return (
    step.staged !== null && lookAt(context.slot, fd, name) && context.slot.ino === step.staged.ino
  );
}

/** Entries of others: those that came out of the tree, and one that is where the step's own entry should be. */
export function shelvedBy(
  context: PublishContext,
  step: Step,
  { published, kept }: AppliedStep,
): Shelved[] {
  const isOwn = step.staged === null || published[0]?.[1].ino === step.staged.ino;
  const inPlace: Shelved[] = isOwn ? [] : [{ path: step.path, keptAt: null }];
  return [...inPlace, ...takenOut(context, step, kept)];
}

function takenOut(context: PublishContext, step: Step, kept: readonly RecordedEntry[]): Shelved[] {
  const expected = new Map<RelativePath, EntryRecord>(step.below);
  if (step.old !== null) expected.set(step.path, step.old);
  return kept.flatMap(([path, record]) => {
    const old = expected.get(path);
    if (record.type === "special" || (old !== undefined && isSameRecord(record, old))) return [];
    return [
      { path, keptAt: `${context.keptPath(step)}${path.slice(step.path.length)}` as BytePath },
    ];
  });
}

/** Makes the outcome of the steps durable: what undo will compare with. */
export function writeApplied(stageFd: number, applied: readonly AppliedStep[]): void {
  const packed = applied.map(({ published, kept, isVouched }): PackedStep => {
    const entries = [packEntries(published), packEntries(kept)] as const;
    return isVouched ? [...entries, 1] : entries;
  });
  writeRecord(stageFd, NAME, packed, "now");
}

/**
 * The outcome of the steps, one for each in their order; null when they are not completely applied.
 * @throws RecordDamagedError when it cannot be trusted.
 */
export function readApplied(context: PublishContext): AppliedStep[] | null {
  return readOutcome(context, NAME);
}

/**
 * Says durably, before the first step is taken back, that the steps are not completely applied any more. Gives what they
 * left behind; empty when they never were.
 */
export function beginReverse(context: PublishContext): AppliedStep[] {
  const stage = { fd: context.stage.fd };
  const applied = readApplied(context);
  if (applied === null) return readOutcome(context, REVERSING) ?? [];
  renameOver({ ...stage, name: NAME }, { ...stage, name: REVERSING });
  fsync(stage.fd);
  return applied;
}

function readOutcome(context: PublishContext, name: string): AppliedStep[] | null {
  const outcome = outcomeIn(context.stage.fd, name);
  if (outcome !== null && outcome.length !== context.list.steps.length) {
    throw new RecordDamagedError("the outcome of a transaction does not fit its steps", {
      data: { file: NAME, reason: "malformed" },
    });
  }
  return outcome;
}

/**
 * The outcome in a stage, with the change times that its files have by now; null when there is none.
 * @throws RecordDamagedError when it cannot be trusted.
 */
export function outcomeIn(stageFd: number, name = NAME): AppliedStep[] | null {
  const packed = readRecord(stageFd, NAME, name) as readonly PackedStep[] | null;
  if (packed === null) return null;
  const times = readTimes(stageFd);
  return packed.map(([published, kept, isVouched]) => ({
    published: withTimes(unpackEntries(published), times),
    kept: withTimes(unpackEntries(kept), times),
    isVouched: isVouched === 1,
  }));
}

function collect(
  stat: StatBuffer,
  { fd, name }: Place,
  step: Step,
  expected: EntryRecord | null,
): RecordedEntry[] {
  if (!lookAt(stat, fd, name)) return [];
  settleMoved(stat, { fd, name }, expected);
  const found: RecordedEntry[] = [[step.path, recordOf(stat)]];
  if (stat.type !== "directory") return found;
  walkBelow(fd, name, step.path, (path, below) => found.push([path, recordOf(below)]));
  return found;
}

function isSameRecord(a: EntryRecord, b: EntryRecord): boolean {
  if (a.ino !== b.ino) return false;
  if (a.type === "directory" || b.type === "directory") {
    return a.type === b.type;
  }
  return a.type === b.type && a.size === b.size && a.mtimeNs === b.mtimeNs;
}
