import { capabilitiesOf } from "../contract/capabilities-of.ts";
import type { SandboxError } from "../errors/index.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import type { UndoPreview } from "../model/undo-preview.ts";
import type { Guarded } from "./engine.ts";
import { asRollbackError, rollbackError } from "./failures.ts";
import { inContext, withSandbox } from "./with-sandbox.ts";

/**
 * What taking the commit of a sandbox back would do. Changes nothing at the resource.
 * @throws SandboxStateError when nothing is committed.
 */
export function previewUndo(guarded: Guarded, ref: SandboxRef): Promise<UndoPreview> {
  const call = {
    ref,
    operation: "undoCommit",
    access: "change",
    failure: asRollbackError,
  } as const;
  return withSandbox(guarded, { ...call, asItIs: true }, (record) =>
    previewLocked(guarded, record),
  );
}

/** The same for a caller that holds the plan's lock. */
export async function previewLocked(guarded: Guarded, record: SandboxRecord): Promise<UndoPreview> {
  const { added = [], changed = [], deleted = [] } = record.lastResult ?? {};
  const obstacle = await undoObstacle(guarded, record);
  return {
    possible: obstacle === null,
    isChecked: obstacle !== null || guarded.raw.checkUndo !== undefined,
    obstacle: obstacle === null ? null : toldObstacle(obstacle),
    changed,
    removed: added,
    restored: deleted,
  };
}

function toldObstacle({ code, message, hint }: SandboxError): UndoPreview["obstacle"] {
  return { code, message, hint: hint ?? null };
}

/** What keeps the commit of a sandbox from being taken back; null when nothing is known to. */
export async function undoObstacle(
  { raw, name }: Guarded,
  { ref, lastResult }: SandboxRecord,
): Promise<SandboxError | null> {
  if (!capabilitiesOf(raw, ref).undoCommit)
    return rollbackError("notUndoable", `The strategy ${name} cannot take a commit back`);
  if (lastResult?.noop === true) return null;
  if (lastResult?.undoable.possible === false)
    return rollbackError(
      "undoDataMissing",
      `This commit cannot be taken back: ${lastResult.undoable.by}`,
    );
  try {
    await raw.checkUndo?.(ref);
    return null;
  } catch (thrown) {
    return inContext(asRollbackError(thrown), ref);
  }
}
