import type { SandboxCopy } from "../contract/strategy.ts";
import { makePlaceholder, placeholderFor } from "../exec/placeholder.ts";
import type { ShownSandbox } from "../exec/shown-sandbox.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import { activate } from "./edit.ts";
import type { Guarded } from "./engine.ts";
import { asPathError } from "./failures.ts";
import { updateRecord } from "./record-moves.ts";
import { takeCopy } from "./repair-workspace.ts";
import { type SandboxCall, withSandbox } from "./with-sandbox.ts";

/**
 * Hands a private copy out to a command that sees other sandboxes too: recorded before, so that whoever comes next takes
 * its edits in any case.
 */
export function lendCopy(
  guarded: Guarded,
  ref: SandboxRef,
  others: readonly ShownSandbox[],
): Promise<SandboxCopy | null> {
  const { engine, raw } = guarded;
  return withSandbox(guarded, callOf(ref), async (found) => {
    const record = await updateRecord(engine, found, { lent: { placeholder: null } });
    const copy = (await raw.beginCopy?.(ref)) ?? null;
    const placeholder = copy === null ? null : placeholderFor(copy.location, others);
    if (placeholder === null) {
      await activate(engine, record);
      return copy;
    }
    await activate(engine, await updateRecord(engine, record, { lent: { placeholder } }));
    makePlaceholder(placeholder);
    return copy;
  });
}

/** Takes the edits of a command that has ended. */
export async function takeCopyBack(guarded: Guarded, ref: SandboxRef): Promise<void> {
  await withSandbox(guarded, callOf(ref), (record): Promise<SandboxRecord> =>
    takeCopy(guarded, record),
  );
}

function callOf(ref: SandboxRef): SandboxCall {
  const failure = (thrown: unknown): ReturnType<SandboxCall["failure"]> =>
    asPathError(thrown, "", "getPath", "unwritable");
  return { ref, operation: "getPath", access: "change", failure };
}
