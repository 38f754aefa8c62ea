import type { Clock } from "../../contract/host.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import type { SandboxRef } from "../../model/sandbox-ref.ts";
import type { DatabaseEngine } from "./engine.ts";
import { undoRefused } from "./errors.ts";
import type { LoggedWrite } from "./log-entry.ts";
import type { DatabasePlace } from "./place.ts";
import { hasEffects, rowChanges } from "./row-changes.ts";

/** One sandbox with its server. */
export interface OpenDatabase {
  readonly ref: SandboxRef;
  readonly place: DatabasePlace;
  readonly engine: DatabaseEngine;
}

/** What a commit is going to do, as it is kept with the intent. */
export interface CommitRecord {
  readonly noop: boolean;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly deleted: readonly string[];
  readonly message: string | null;
  /** Whether the schema is changed, which has no way back. */
  readonly schema: boolean;
  /** By what the server knows the prepared transaction, also when it is settled; null where it forgets it then. */
  readonly transaction?: string | null;
}

/** What a commit of a log is going to do. */
export function recordOf(log: readonly LoggedWrite[], message: string | null): CommitRecord {
  const changes = rowChanges(log).map(({ change }) => change);
  const paths = (kind: string): string[] =>
    changes
      .filter((change) => change.kind === kind)
      .flatMap(({ path, count = 1 }) => Array.from({ length: count }, () => path))
      .sort();
  return {
    noop: !hasEffects(log),
    added: paths("added"),
    changed: paths("modified"),
    deleted: paths("deleted"),
    message,
    schema: changesSchema(log),
  };
}

/** What a commit tells its caller. */
export function resultOf(
  { ref, place }: OpenDatabase,
  record: CommitRecord,
  revision: string,
  clock: Clock,
): CommitResult {
  const { noop, added, changed, deleted, message, schema } = record;
  return {
    success: true,
    sandboxId: ref.sandboxId,
    strategyName: ref.strategyName,
    added,
    changed,
    deleted,
    noop,
    message,
    revision: noop ? null : revision,
    committedAt: clock.now().toISOString(),
    undoable: undoableBy(place, noop, schema),
    warnings: [],
    metadata: {},
  };
}

/** Refuses an undo of what cannot be taken back, before anything is tried. */
export function requireUndo(place: DatabasePlace, log: readonly LoggedWrite[]): void {
  if (place.committed()?.undoable !== true)
    throw undoRefused("undoDataMissing", "There is no record of the commit; nothing was changed");
  if (changesSchema(log))
    throw undoRefused(
      "notUndoable",
      "The commit changed the schema, which cannot be taken back row by row; nothing was changed",
    );
}

function changesSchema(log: readonly LoggedWrite[]): boolean {
  return log.some(({ statements }) => statements.some(({ kind }) => kind === "schema"));
}

function undoableBy(
  place: DatabasePlace,
  noop: boolean,
  schema: boolean,
): CommitResult["undoable"] {
  if (noop) return { possible: true, by: "nothing was applied" };
  if (schema) return { possible: false, by: "the schema was changed" };
  return { possible: true, by: "recorded rows", path: place.folder, bytes: place.log.size() };
}
