import { createDiffView } from "../../contract/diff-view.ts";
import type { Change } from "../../model/change.ts";
import type { DiffView } from "../../model/diff-view.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import type { LoggedWrite } from "./log-entry.ts";
import { rowChanges } from "./row-changes.ts";
import { schemaNotes } from "./schema-notes.ts";

/** What a commit of a log would do, row by row; nobody is asked. */
export function diffOf(ref: SandboxRef, log: readonly LoggedWrite[]): DiffView {
  const changes = rowChanges(log);
  const allNotes = schemaNotes(log);
  const noted = (change: Change): Change => {
    const notes = allNotes.get(change.path) ?? [];
    return notes.length === 0 ? change : { ...change, notes };
  };
  const byPath = new Map(changes.map((one) => [one.change.path, one]));
  const content = (text: string | null | undefined): Promise<Uint8Array | null> =>
    Promise.resolve(text === null || text === undefined ? null : Buffer.from(text, "utf8"));
  return createDiffView({
    sandboxId: ref.sandboxId,
    base: ref.baseFingerprintId,
    unit: "row",
    changes: changes.map(({ change }) => noted(change)),
    readBefore: ({ path }) => content(byPath.get(path)?.before),
    readAfter: ({ path }) => content(byPath.get(path)?.after),
  });
}
