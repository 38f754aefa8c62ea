import { describeThrown } from "../../../errors/index.ts";
import { DriftError } from "../engine.ts";
import type { RowEffect } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { isHeld } from "./session.ts";

/** The conflict with whoever holds a table that was to be locked; null for any other error. */
export function heldTable(
  table: Pick<RowEffect, "schema" | "table">,
  thrown: unknown,
): DriftError | null {
  if (!isHeld(thrown)) return null;
  const path = tablePath(table);
  const conflict = { path, reason: "locked", base: null, theirs: null, ours: null } as const;
  return new DriftError(describeThrown(thrown), [conflict], thrown);
}
