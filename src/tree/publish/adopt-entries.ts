import type { RelativePath } from "../../model/byte-path.ts";
import { readApplied, writeApplied } from "./applied-record.ts";
import { type EntryRecord, lookAt, recordOf } from "./entry-record.ts";
import { readMovePlan, writeMovePlan } from "./moved-sources.ts";
import { openContext } from "./publish-context.ts";
import { writeRecord } from "./record-file.ts";
import type { PublishPlace } from "./step.ts";
import { packSteps } from "./step-codec.ts";

/** What counts as published from now on. */
export interface AdoptRequest extends PublishPlace {
  readonly paths: readonly RelativePath[];
}

/**
 * Takes the files that stand at these paths now for the ones that were published there: a program has rewritten them
 * and they mean the same. An undo then gives them to the sandbox instead of refusing them. Only records are written, the
 * one that makes it count last; idempotent.
 */
export function adoptEntries({ paths, ...place }: AdoptRequest): void {
  using context = openContext(place);
  const applied = readApplied(context);
  if (applied === null) return;
  const { list, stage, now } = context;
  const wanted = new Set(paths);
  const adopted = new Map<RelativePath, EntryRecord>();
  for (const step of list.steps) {
    if (!wanted.has(step.path) || step.staged?.type !== "file") continue;
    const { fd, name } = context.placeOf(step);
    if (lookAt(now, fd, name) && now.type === "file") adopted.set(step.slot, recordOf(now));
  }
  if (adopted.size === 0) return;
  const plan = readMovePlan(stage.fd);
  if (plan.moves.length > 0) {
    const moves = plan.moves.map((move) => {
      const ino = adopted.get(move.staged)?.ino;
      return ino === undefined ? move : { ...move, ino };
    });
    writeMovePlan(stage.fd, { ...plan, moves });
  }
  const steps = list.steps.map((step) => {
    const staged = adopted.get(step.slot);
    return staged === undefined ? step : { ...step, staged };
  });
  writeRecord(stage.fd, "steps", packSteps({ ...list, steps }), "now");
  writeApplied(
    stage.fd,
    applied.map((own, at) => {
      const step = steps[at];
      const staged = step === undefined ? undefined : adopted.get(step.slot);
      if (step === undefined || staged === undefined) return own;
      return { ...own, published: [[step.path, staged] as const] };
    }),
  );
}
