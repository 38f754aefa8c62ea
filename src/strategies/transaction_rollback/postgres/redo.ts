import { type Direction, DriftError } from "../engine.ts";
import { type LoggedWrite, type RowEffect, inverted } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { applyEffects } from "../sql/apply-effects.ts";
import {
  changedTable,
  conflictOf,
  requireAfter,
  requireBefore,
  tablesOf,
} from "../sql/checked-rows.ts";
import { kindOf } from "../sql/row-store.ts";
import { withImageSettings } from "./image-settings.ts";
import { applyOne, rowsOf } from "./row-statements.ts";
import { catchUp } from "./sequences.ts";
import { type Session, sqlStateOf } from "./session.ts";
import { type Table, touchedSince, touchedTables } from "./tables.ts";

const UNIQUE_VIOLATION = "23505";
const LOCK_NOT_AVAILABLE = "55P03";
const DEADLOCK = "40P01";

/** Part of a log: effects, or one statement that changes the schema. */
type Part =
  | { readonly text: string; readonly effects?: never }
  | { readonly effects: readonly RowEffect[]; readonly text?: never };

/**
 * Applies a log inside an open transaction. Rows are found as they were, and end up as they were recorded; nothing else
 * changes. Triggers of the user stay silent, because what they did is in the log; foreign keys and all other constraints
 * count.
 * @throws DriftError when the database is not as the log found it.
 */
export async function redo(
  session: Session,
  log: readonly LoggedWrite[],
  direction: Direction = "forward",
): Promise<void> {
  for (const part of partsOf(log, direction)) {
    try {
      if (part.text !== undefined) await session.run(part.text);
      else await withImageSettings(session, () => redoEffects(session, part.effects));
    } catch (thrown) {
      throw asDrift(thrown, part);
    }
  }
  if (direction === "backward") return;
  for (const { sequences } of log) await catchUp(session, sequences);
}

function partsOf(log: readonly LoggedWrite[], direction: Direction): readonly Part[] {
  const parts: Part[] = [];
  let effects: RowEffect[] = [];
  const end = (): void => {
    if (effects.length > 0) parts.push({ effects });
    effects = [];
  };
  for (const statement of log.flatMap(({ statements }) => statements)) {
    if (statement.kind === "schema") {
      end();
      parts.push({ text: statement.text });
    }
    effects.push(...statement.effects);
  }
  end();
  if (direction === "forward") return parts;
  return parts.toReversed().map((part) => {
    if (part.effects === undefined) return part;
    return { effects: part.effects.toReversed().map(inverted) };
  });
}

async function redoEffects(session: Session, effects: readonly RowEffect[]): Promise<void> {
  const rows = rowsOf(session);
  const tables = await tablesOf(rows, effects);
  await requireBefore(rows, tables, effects);
  const silenced = [...tables.values()].filter(({ triggers }) => triggers.length > 0);
  for (const table of silenced) await switchTriggers(session, table, () => "DISABLE TRIGGER");
  await session.run("SAVEPOINT cofferdam_part");
  let before = await touchedTables(session);
  const { order, isStraight } = await applyEffects(rows, tables, effects);
  if (!isStraight) {
    // Once more without the futile tries: they would be counted as changes.
    await session.run("ROLLBACK TO SAVEPOINT cofferdam_part");
    before = await touchedTables(session);
    for (const run of order) await applyOne(session, run);
  }
  await requireAfter(rows, tables, effects);
  const touched = touchedSince(before, await touchedTables(session));
  requireNothingElse(effects, touched);
  if (silenced.length === 0) return;
  // Checks that wait for the end of the transaction would keep the triggers from being switched on again.
  await session.run("SET CONSTRAINTS ALL IMMEDIATE");
  for (const table of silenced) {
    await switchTriggers(session, table, (enabled) =>
      enabled === "A" ? "ENABLE ALWAYS TRIGGER" : "ENABLE TRIGGER",
    );
  }
}

async function switchTriggers(
  session: Session,
  { name, triggers }: Table,
  how: (enabled: string) => string,
): Promise<void> {
  for (const trigger of triggers)
    await session.run(`ALTER TABLE ${name} ${how(trigger.enabled)} ${trigger.name}`);
}

/** A cascade must not reach rows that the log does not know, such as children that somebody else added. */
function requireNothingElse(
  effects: readonly RowEffect[],
  touched: ReturnType<typeof touchedSince>,
): void {
  const expected = new Map<string, number>();
  for (const effect of effects) {
    const what = `${tablePath(effect)} ${kindOf(effect)}`;
    expected.set(what, (expected.get(what) ?? 0) + 1);
  }
  const found = new Map<string, number>();
  for (const table of touched) {
    if (table.schema === "pg_catalog") continue;
    const { inserted, updated, deleted } = table;
    const counts = Object.entries({ insert: inserted, update: updated, delete: deleted });
    for (const [kind, count] of counts)
      if (count > 0) found.set(`${tablePath(table)} ${kind}`, count);
  }
  const names = new Set([...expected.keys(), ...found.keys()]);
  const wrong = [...names].filter((name) => expected.get(name) !== found.get(name));
  if (wrong.length === 0) return;
  const conflicts = wrong.map((name) => changedTable(name.split(" ", 1)[0] ?? name));
  throw new DriftError("Other rows than the recorded ones would change", conflicts);
}

/** Constraints that are violated, and locks that are held, are the work of somebody else: alone it went well. */
function asDrift(thrown: unknown, part: Part): unknown {
  const state = sqlStateOf(thrown);
  if (thrown instanceof DriftError || state === null) return thrown;
  const isLocked = state === LOCK_NOT_AVAILABLE || state === DEADLOCK;
  const isOurs = !isLocked && !state.startsWith("23") && part.effects !== undefined;
  if (isOurs) return thrown;
  const reason = isLocked ? "locked" : state === UNIQUE_VIOLATION ? "exists" : "changed";
  const message = thrown instanceof Error ? thrown.message : "";
  const conflicts =
    part.effects === undefined
      ? [{ path: "schema-changes", reason, base: null, theirs: null, ours: part.text } as const]
      : part.effects.map((effect) => conflictOf(effect, reason, null));
  return new DriftError(message, conflicts, thrown);
}
