import type { CommandRequest, HostCommand } from "../contract/enclosed-command.ts";
import type { SandboxAddress, SandboxCopy } from "../contract/strategy.ts";
import { makePlaceholder, placeholderFor } from "../exec/placeholder.ts";
import type { ShownSandbox } from "../exec/shown-sandbox.ts";
import type { SandboxRecord } from "../journal/sandbox-record.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import { activate } from "./edit.ts";
import type { Guarded } from "./engine.ts";
import { asPathError } from "./failures.ts";
import { parseLent } from "./parse-lent.ts";
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
): Promise<SandboxCopy | SandboxAddress | null> {
  const { engine, raw, name } = guarded;
  return withSandbox(guarded, callOf(ref), async (found) => {
    const record = await updateRecord(engine, found, { lent: { placeholder: null } });
    const lent: unknown = (await raw.beginCopy?.(ref)) ?? null;
    const copy = lent === null ? null : parseLent(lent, name);
    const placeholder =
      copy === null || "environment" in copy ? null : placeholderFor(copy.location, others);
    if (placeholder === null) {
      await activate(engine, record);
      return copy;
    }
    await activate(engine, await updateRecord(engine, record, { lent: { placeholder } }));
    makePlaceholder(placeholder);
    return copy;
  });
}

/**
 * Makes the surroundings of a command: recorded before, so that whoever comes next ends it in any case, and takes what
 * it did there.
 */
export function lendSurroundings(
  guarded: Guarded,
  ref: SandboxRef,
  request: CommandRequest,
): Promise<HostCommand> {
  const { engine, raw } = guarded;
  return withSandbox(guarded, callOf(ref), async (found) => {
    const record = await updateRecord(engine, found, { lent: { placeholder: null } });
    const command = await raw.beginCommand?.(ref, request);
    if (command === undefined) throw new TypeError("the strategy has no method beginCommand");
    await activate(engine, record);
    return command;
  });
}

/** Takes what a command did in the surroundings that it was given, and tells which paths it changed there. */
export function takeSurroundingsBack(
  { engine, raw, ...rest }: Guarded,
  ref: SandboxRef,
): Promise<readonly string[]> {
  return withSandbox({ engine, raw, ...rest }, callOf(ref), async (record) => {
    const ended = await raw.endCommand?.(ref);
    await updateRecord(engine, record, { lent: null });
    return ended?.changed ?? [];
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
