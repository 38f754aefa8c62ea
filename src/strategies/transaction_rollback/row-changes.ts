import { createHash } from "node:crypto";
import type { Change, EntryState } from "../../model/change.ts";
import type { LoggedWrite, RowEffect } from "./log-entry.ts";

/** One changed row with both its contents. */
export interface RowChange {
  readonly change: Change;
  readonly before: string | null;
  readonly after: string | null;
}

/** The path of a table's rows in a diff. */
export function tablePath({ schema, table }: Pick<RowEffect, "schema" | "table">): string {
  return `${namePart(schema)}.${namePart(table)}`;
}

/** The name of a row in its path; several columns of a key have commas between them. */
export function keyPath(key: readonly string[]): string {
  return key.map(pathPart).join(",");
}

function namePart(name: string): string {
  return pathPart(name).replaceAll(".", "%2E");
}

/** Letters and digits of every language can be read; what means something in a path is written out. */
function pathPart(text: string): string {
  return text.replaceAll(/[^\p{L}\p{M}\p{N}!'()*~_.-]+/gu, encodeURIComponent);
}

/** The path of a row: its table and its primary key, or a digest of the whole row where the table has no key. */
export function rowPath(
  effect: Pick<RowEffect, "schema" | "table">,
  key: readonly string[] | null,
  row: string | null,
): string {
  const name = key === null ? `@${digest(row ?? "").slice(0, 16)}` : keyPath(key);
  return `${tablePath(effect)}/${name}`;
}

/** The path of a statement that changes the schema; they are numbered from 1. */
export function schemaPath(number: number): string {
  return `schema-changes/${String(number).padStart(4, "0")}.sql`;
}

/** A content as one side of a change. */
export function contentState(content: string | null): EntryState | null {
  if (content === null) return null;
  const size = Buffer.byteLength(content);
  return {
    type: "file",
    size,
    // A row has none; in a patch it then looks like any other file.
    mode: 0o644,
    uid: 0,
    gid: 0,
    hash: digest(content),
    target: null,
    mtimeNs: "0",
  };
}

/** What became of rows so far, by path. */
interface FollowedRows {
  readonly keyed: Map<string, { readonly before: string | null; readonly after: string | null }>;
  /** Rows of tables without a key: how many more there are, or fewer. */
  readonly equal: Map<string, { readonly row: string; readonly more: number }>;
}

/**
 * What all writes together did, by row: the content before the first and after the last of them. A row that became what
 * it was is no change. Equal rows of a table without a key are one change, of which there are more or fewer in the end.
 * Statements that change the schema stand under `schema-changes/`, in their order.
 */
export function rowChanges(writes: readonly LoggedWrite[]): RowChange[] {
  const rows: FollowedRows = { keyed: new Map(), equal: new Map() };
  const statements: RowChange[] = [];
  for (const statement of writes.flatMap((write) => write.statements)) {
    if (statement.kind === "schema") {
      const path = schemaPath(statements.length + 1);
      statements.push(described(path, null, `${statement.text.trim()}\n`));
    }
    for (const effect of statement.effects) follow(rows, effect);
  }
  const keyed = [...rows.keyed].filter(([, { before, after }]) => before !== after);
  const equal = [...rows.equal].filter(([, { more }]) => more !== 0);
  return [
    ...keyed.map(([path, { before, after }]) => described(path, before, after)),
    ...equal.map(([path, { row, more }]) =>
      more > 0 ? described(path, null, row, more) : described(path, row, null, -more),
    ),
    ...statements,
  ];
}

/** Whether the writes would do anything. */
export function hasEffects(writes: readonly LoggedWrite[]): boolean {
  return writes.some(({ statements }) =>
    statements.some(({ kind, effects }) => kind === "schema" || effects.length > 0),
  );
}

function follow(rows: FollowedRows, effect: RowEffect): void {
  const { keyBefore, keyAfter, rowBefore, rowAfter } = effect;
  if (rowBefore !== null) {
    const path = rowPath(effect, keyBefore, rowBefore);
    const known = rows.keyed.get(path);
    if (keyBefore === null) count(rows, path, rowBefore, -1);
    else rows.keyed.set(path, { before: known ? known.before : rowBefore, after: null });
  }
  if (rowAfter !== null) {
    const path = rowPath(effect, keyAfter, rowAfter);
    const before = rows.keyed.get(path)?.before ?? null;
    if (keyAfter === null) count(rows, path, rowAfter, 1);
    else rows.keyed.set(path, { before, after: rowAfter });
  }
}

function count({ equal }: FollowedRows, path: string, row: string, by: 1 | -1): void {
  equal.set(path, { row, more: (equal.get(path)?.more ?? 0) + by });
}

function described(
  path: string,
  before: string | null,
  after: string | null,
  amount = 1,
): RowChange {
  const change: Change = {
    path,
    kind: kindOf(before, after),
    before: contentState(before),
    after: contentState(after),
    ...(amount > 1 && { count: amount }),
  };
  return { change, before, after };
}

function kindOf(before: string | null, after: string | null): Change["kind"] {
  if (before === null) return "added";
  return after === null ? "deleted" : "modified";
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
