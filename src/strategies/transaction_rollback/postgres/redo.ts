import { type Direction, DriftError, type RowConflict } from "../engine.ts";
import { type LoggedWrite, type RowEffect, inverted } from "../log-entry.ts";
import { rowPath, tablePath } from "../row-changes.ts";
import { withImageSettings } from "./image-settings.ts";
import { applyEffects, applyOne, keyText } from "./apply-effects.ts";
import { kindOf, lockEqual, presentRows } from "./row-statements.ts";
import { catchUp } from "./sequences.ts";
import { type Session, sqlStateOf } from "./session.ts";
import { type Table, findTable, touchedSince, touchedTables } from "./tables.ts";

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
  const tables = await tablesOf(session, effects);
  await requireBefore(session, tables, effects);
  const silenced = [...tables.values()].filter(({ triggers }) => triggers.length > 0);
  for (const table of silenced) await switchTriggers(session, table, () => "DISABLE TRIGGER");
  await session.run("SAVEPOINT cofferdam_part");
  let before = await touchedTables(session);
  const { order, isStraight } = await applyEffects(session, tables, effects);
  if (!isStraight) {
    // Once more without the futile tries: they would be counted as changes.
    await session.run("ROLLBACK TO SAVEPOINT cofferdam_part");
    before = await touchedTables(session);
    for (const run of order) await applyOne(session, run);
  }
  await requireAfter(session, tables, effects);
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

async function tablesOf(
  session: Session,
  effects: readonly RowEffect[],
): Promise<ReadonlyMap<string, Table>> {
  const tables = new Map<string, Table>();
  for (const effect of effects) {
    const path = tablePath(effect);
    if (tables.has(path)) continue;
    const table = await findTable(session, effect);
    if (table === null) throw new DriftError(`The table ${path} is gone`, [missingTable(path)]);
    tables.set(path, table);
  }
  return tables;
}

/** The tables whose rows can be told apart, each with the effects on it. */
function keyedTables(
  tables: ReadonlyMap<string, Table>,
  effects: readonly RowEffect[],
): { readonly table: Table; readonly own: readonly RowEffect[] }[] {
  const keyed = [...tables].filter(([, table]) => table.key.length > 0);
  return keyed.map(([path, table]) => {
    return { table, own: effects.filter((effect) => tablePath(effect) === path) };
  });
}

/** Locks every row that is going to change, and checks it, before the first one does. */
async function requireBefore(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  effects: readonly RowEffect[],
): Promise<void> {
  const conflicts: RowConflict[] = [];
  for (const { table, own } of keyedTables(tables, effects)) {
    const first = firstOf(own).filter(({ before }) => before !== null);
    const images = first.map(({ before }) => before ?? "");
    const equal = await lockEqual(session, table, images);
    if (equal.size === images.length) continue;
    const present = await presentRows(session, table, images);
    for (const [at, effect] of first.entries()) {
      if (equal.has(at)) continue;
      const theirs = present.get(at)?.row ?? null;
      conflicts.push(conflictOf(effect, theirs === null ? "missing" : "changed", theirs));
    }
  }
  if (conflicts.length > 0) throw new DriftError("Rows were changed by somebody else", conflicts);
}

/** The first effect on each row that was there, or was not, when the first effect happened. */
function firstOf(effects: readonly RowEffect[]): readonly RowEffect[] {
  const seen = new Set<string>();
  return effects.filter((effect) => {
    const [before, after] = [keyText(effect.keyBefore), keyText(effect.keyAfter)];
    const isFirst = !seen.has(before ?? after ?? "");
    if (before !== null) seen.add(before);
    if (after !== null) seen.add(after);
    return isFirst;
  });
}

/** Checks that every row ended up as it was recorded: neither a default nor a rule may have had its own way. */
async function requireAfter(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  effects: readonly RowEffect[],
): Promise<void> {
  const conflicts: RowConflict[] = [];
  for (const { table, own } of keyedTables(tables, effects)) {
    const last = new Map<string, { effect: RowEffect; image: string; after: string | null }>();
    for (const effect of own) {
      const { keyBefore, keyAfter, before, after } = effect;
      if (before !== null)
        last.set(keyText(keyBefore) ?? "", { effect, image: before, after: null });
      if (after !== null) last.set(keyText(keyAfter) ?? "", { effect, image: after, after });
    }
    const expected = [...last.values()];
    const present = await presentRows(
      session,
      table,
      expected.map(({ image }) => image),
    );
    for (const [at, { effect, after }] of expected.entries()) {
      const found = present.get(at);
      if ((found?.image ?? null) !== after)
        conflicts.push(conflictOf(effect, "changed", found?.row ?? null));
    }
  }
  if (conflicts.length > 0)
    throw new DriftError("Rows did not become what was recorded", conflicts);
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
  const conflicts = wrong.map((name): RowConflict => {
    const path = name.split(" ", 1)[0] ?? name;
    return { path, reason: "changed", base: null, theirs: null, ours: null };
  });
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

function conflictOf(
  effect: RowEffect,
  reason: RowConflict["reason"],
  theirs: string | null,
): RowConflict {
  const { keyBefore, keyAfter, rowBefore, rowAfter } = effect;
  const path = rowPath(effect, keyBefore ?? keyAfter, rowBefore ?? rowAfter);
  return { path, reason, base: rowBefore, theirs, ours: rowAfter };
}

function missingTable(path: string): RowConflict {
  return { path, reason: "missing", base: null, theirs: null, ours: null };
}
