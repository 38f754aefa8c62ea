import { type Direction, DriftError } from "../engine.ts";
import { type DroppedTable, type LoggedWrite, type RowEffect, inverted } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { applyEffects } from "../sql/apply-effects.ts";
import {
  changedTable,
  conflictOf,
  requireAfter,
  requireBefore,
  tablesOf,
  tellTaken,
} from "../sql/checked-rows.ts";
import { type EffectRun, keyText, kindOf } from "../sql/row-store.ts";
import { settleWaiting, withWaiting, withoutWaiting } from "./deferred.ts";
import { requireRemembered } from "./dropped-tables.ts";
import { withImageSettings } from "./image-settings.ts";
import { applyOne, isPassing, rowsOf } from "./row-statements.ts";
import { requireSameColumns } from "./same-columns.ts";
import { catchUp } from "./sequences.ts";
import { type Session, isHeld, sqlStateOf } from "./session.ts";
import { type Table, touchedSince, touchedTables } from "./tables.ts";

const UNIQUE_VIOLATION = "23505";
/** Violated constraints. */
const VIOLATION = /^23/;
/** Violated constraints, values that a column does not take any more, and tables that have just gone. */
const BY_OTHERS = /^(2[23]|42P01$)/;

/** What one statement did. */
type Group = readonly RowEffect[];

/** Part of a log: what statements did, or one that changes the schema. */
type Part =
  | {
      readonly text: string;
      readonly drops: readonly DroppedTable[];
      readonly groups?: never;
    }
  | { readonly groups: readonly Group[]; readonly text?: never };

/**
 * Applies a log inside an open transaction. Rows are found as they were, and end up as they were recorded; nothing else
 * changes. Triggers of the user stay silent, because what they did is in the log; foreign keys and all other constraints
 * count. `afterSchema` is called after each change of the schema.
 * @throws DriftError when the database is not as the log found it.
 */
export async function redo(
  session: Session,
  log: readonly LoggedWrite[],
  direction: Direction = "forward",
  afterSchema: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  for (const part of partsOf(log, direction)) {
    try {
      if (part.text !== undefined) {
        await settleWaiting(session);
        await requireRemembered(session, part.drops);
        await session.run(part.text);
        await afterSchema();
      } else await withImageSettings(session, () => redoGroups(session, part.groups));
    } catch (thrown) {
      throw asDrift(thrown, part);
    }
  }
  if (direction === "backward") return;
  for (const { sequences } of log) await catchUp(session, sequences);
}

function partsOf(log: readonly LoggedWrite[], direction: Direction): readonly Part[] {
  const parts: Part[] = [];
  let groups: Group[] = [];
  const end = (): void => {
    if (groups.length > 0) parts.push({ groups });
    groups = [];
  };
  for (const { kind, text, effects, drops = [] } of log.flatMap(({ statements }) => statements)) {
    if (kind === "schema") {
      end();
      parts.push({ text, drops });
    }
    if (effects.length > 0) groups.push(effects);
  }
  end();
  if (direction === "forward") return parts;
  return parts.toReversed().map((part) => {
    if (part.groups === undefined) return part;
    return { groups: part.groups.toReversed().map((group) => group.toReversed().map(inverted)) };
  });
}

async function redoGroups(session: Session, groups: readonly Group[]): Promise<void> {
  const [rows, effects] = [rowsOf(session), groups.flat()];
  await lockTables(session, await tablesOf(rows, effects));
  // Looked up again: nobody can alter them any more.
  const tables = await tablesOf(rows, effects);
  requireSameColumns(tables, effects);
  const silenced = [...tables.values()].filter(({ triggers }) => triggers.length > 0);
  await requireBefore(rows, tables, effects);
  for (const table of silenced) await switchTriggers(session, table, () => "DISABLE TRIGGER");
  await applyChecked(session, tables, groups);
  if (silenced.length === 0) return;
  // Checks that wait for the end of the transaction would keep the triggers from being switched on again.
  await withoutWaiting(session, silenced, async () => {
    for (const table of silenced) {
      await switchTriggers(session, table, (enabled) =>
        enabled === "A" ? "ENABLE ALWAYS TRIGGER" : "ENABLE TRIGGER",
      );
    }
  });
}

/**
 * Takes the locks that the tables need anyway before any row is locked. Whoever records holds his table first and asks
 * for its rows then: in another order the two would wait for each other.
 */
async function lockTables(session: Session, tables: ReadonlyMap<string, Table>): Promise<void> {
  const sorted = [...tables.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  for (const mode of ["SHARE ROW EXCLUSIVE", "ROW EXCLUSIVE"] as const) {
    const isSilenced = mode === "SHARE ROW EXCLUSIVE";
    const names = sorted.filter(({ triggers }) => triggers.length > 0 === isSilenced);
    if (names.length === 0) continue;
    const list = names.map(({ name }) => `ONLY ${name}`).join(", ");
    await session.run(`LOCK TABLE ${list} IN ${mode} MODE`);
  }
}

type Touched = ReturnType<typeof touchedSince>;

/**
 * Applies rows, and checks what became of them. A cascade takes rows along as they are at that moment: where it was the
 * wrong one, keys are changed last.
 */
async function applyChecked(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  groups: readonly Group[],
): Promise<void> {
  const effects = groups.flat();
  const apply = async (ordered: readonly Group[]): Promise<void> => {
    const touched = await applyOrTell(session, tables, ordered);
    await requireAfter(rowsOf(session), tables, effects);
    requireNothingElse(effects, touched);
  };
  try {
    await apply(groups);
  } catch (thrown) {
    const [first, last] = withKeysLast(effects);
    if (!(thrown instanceof DriftError) || first.length === 0 || last.length === 0) throw thrown;
    await session.run("ROLLBACK TO SAVEPOINT cofferdam_part");
    try {
      await apply([[...first, ...last]]);
    } catch (again) {
      throw again instanceof DriftError ? thrown : again;
    }
  }
}

/** The effects before those that give a row another key, and these, with all that happens to such a row afterwards. */
function withKeysLast(effects: Group): readonly [first: Group, last: Group] {
  const [first, last]: [RowEffect[], RowEffect[]] = [[], []];
  const moved = new Set<string>();
  for (const effect of effects) {
    const [before, after] = [keyText(effect.keyBefore), keyText(effect.keyAfter)];
    const isMoving = before !== null && after !== null && before !== after;
    const keys = [before, after].filter((key) => key !== null);
    const names = keys.map((key) => `${tablePath(effect)} ${key}`);
    const isLast = isMoving || names.some((name) => moved.has(name));
    if (isLast) for (const name of names) moved.add(name);
    (isLast ? last : first).push(effect);
  }
  return [first, last];
}

/** Applies rows. Where a constraint is violated, a second look tells which rows are in the way. */
async function applyOrTell(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  groups: readonly Group[],
): Promise<Touched> {
  try {
    return await applyPart(session, tables, groups);
  } catch (thrown) {
    if (!VIOLATION.test(sqlStateOf(thrown) ?? "")) throw thrown;
    await session.run("ROLLBACK TO SAVEPOINT cofferdam_part");
    throw await tellTaken(rowsOf(session), tables, groups.flat(), thrown);
  }
}

/** Applies rows, with checks that wait where they cannot be applied otherwise, and gives what was touched. */
async function applyPart(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  groups: readonly Group[],
): Promise<Touched> {
  const apply = (): Promise<Touched> => applyTouching(session, tables, groups);
  try {
    return await apply();
  } catch (thrown) {
    if (!isPassing(thrown)) throw thrown;
    await session.run("ROLLBACK TO SAVEPOINT cofferdam_part");
    const touched = await withWaiting(session, [...tables.values()], apply);
    if (touched === null) throw thrown;
    return touched;
  }
}

async function applyTouching(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  groups: readonly Group[],
): Promise<Touched> {
  await session.run("SAVEPOINT cofferdam_part");
  let before = await touchedTables(session);
  const { order, isStraight } = await applyGroups(session, tables, groups);
  if (!isStraight) {
    // Once more without the futile tries: they would be counted as changes.
    await session.run("ROLLBACK TO SAVEPOINT cofferdam_part");
    before = await touchedTables(session);
    for (const run of order) await applyOne(session, run);
  }
  return touchedSince(before, await touchedTables(session));
}

/** Rows of different statements go together as long as they do not get in each other's way. */
async function applyGroups(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  groups: readonly Group[],
): Promise<{ readonly order: readonly EffectRun<Table>[]; readonly isStraight: boolean }> {
  const rows = rowsOf(session);
  try {
    return await applyEffects(rows, tables, groups.flat());
  } catch (thrown) {
    if (groups.length < 2 || !isPassing(thrown)) throw thrown;
  }
  await session.run("ROLLBACK TO SAVEPOINT cofferdam_part");
  const order: EffectRun<Table>[] = [];
  for (const group of groups) order.push(...(await applyEffects(rows, tables, group)).order);
  return { order, isStraight: false };
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
function requireNothingElse(effects: readonly RowEffect[], touched: Touched): void {
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

/** Constraints that are violated, other types, and locks that are held, are the work of somebody else: alone it went well. */
function asDrift(thrown: unknown, part: Part): unknown {
  const state = sqlStateOf(thrown);
  if (thrown instanceof DriftError || state === null) return thrown;
  const isLocked = isHeld(thrown);
  const isOurs = !isLocked && !BY_OTHERS.test(state) && part.groups !== undefined;
  if (isOurs) return thrown;
  const reason = isLocked ? "locked" : state === UNIQUE_VIOLATION ? "exists" : "changed";
  const message = thrown instanceof Error ? thrown.message : "";
  const conflicts =
    part.groups === undefined
      ? [{ path: "schema-changes", reason, base: null, theirs: null, ours: part.text } as const]
      : part.groups.flat().map((effect) => conflictOf(effect, reason, null));
  return new DriftError(message, conflicts, thrown);
}
