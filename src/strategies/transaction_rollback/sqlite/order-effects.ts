import { DriftError } from "../engine.ts";
import { type RowEffect, inverted } from "../log-entry.ts";
import { rowPath } from "../row-changes.ts";
import { imageIn } from "./apply-effect.ts";
import type { Capture } from "./capture.ts";
import { notCaptured } from "../sql/not-captured.ts";
import { applyOrTell, redoEffects, tablesOf } from "./redo.ts";
import type { Session } from "./session.ts";
import { type Table, sideOf } from "./tables.ts";
import { watching } from "./watching.ts";

const TANGLED = "its rows depend on each other in a way that cannot be repeated";

/**
 * Brings effects that are known only by their result into an order in which they can be repeated, and taken back, and
 * applies them: a unique value must be free before another row takes it, and a cascade must find nothing that is to stay.
 * @throws DatabaseError (`DATABASE`, reason `notCaptured`).
 */
export function orderEffects(
  session: Session,
  effects: readonly RowEffect[],
): readonly RowEffect[] {
  if (effects.length === 0) return [];
  let forward: readonly RowEffect[] | null = null;
  for (const order of orders(session, effects)) {
    if (order === null || !isRepeated(session, order, "keep nothing")) continue;
    forward ??= order;
    if (!isRepeated(session, [...order, ...order.toReversed().map(inverted)], "keep nothing"))
      continue;
    forward = order;
    break;
  }
  // One that cannot be taken back is better than none: the undo says so then.
  if (forward === null || !isRepeated(session, forward, "keep")) throw notCaptured(TANGLED);
  return forward;
}

/** What may do, the cheapest first. */
function* orders(
  session: Session,
  effects: readonly RowEffect[],
): Generator<readonly RowEffect[] | null> {
  const simple = byKind(effects);
  yield simple;
  yield foundByTrying(session, simple);
  const moved = byKind(withMoves(effects, tablesOf(session, "main", effects)));
  yield moved;
  yield foundByTrying(session, moved);
}

function byKind(effects: readonly RowEffect[]): readonly RowEffect[] {
  return [
    ...effects.filter(({ after }) => after === null),
    ...effects.filter(({ before, after }) => before !== null && after !== null),
    ...effects.filter(({ before }) => before === null),
  ];
}

/** A row that goes and one that comes with all the same but its key are one row: others may follow it by a cascade. */
function withMoves(
  effects: readonly RowEffect[],
  tables: ReadonlyMap<string, Table>,
): readonly RowEffect[] {
  const restOf = ({ table, before, after }: RowEffect): string => {
    const image = imageIn(before ?? after) ?? [];
    const rest = image.filter(([name]) => tables.get(table)?.key.includes(name) === false);
    return JSON.stringify([table, rest]);
  };
  const gone = new Map(
    effects.filter(({ after }) => after === null).map((effect) => [restOf(effect), effect]),
  );
  const pairs = new Map<RowEffect, RowEffect>();
  for (const effect of effects.filter(({ before }) => before === null)) {
    const from = gone.get(restOf(effect));
    if (from === undefined) continue;
    gone.delete(restOf(effect));
    const { keyBefore, before, rowBefore } = from;
    pairs.set(from, { ...effect, keyBefore, before, rowBefore }).set(effect, from);
  }
  return effects.flatMap((effect) => {
    if (effect.before === null && pairs.has(effect)) return [];
    return [pairs.get(effect) ?? effect];
  });
}

/** Applies effects as a commit will; where that does not work, nothing has changed. */
function isRepeated(
  session: Session,
  effects: readonly RowEffect[],
  end: "keep" | "keep nothing",
): boolean {
  session.exec("SAVEPOINT cofferdam_order");
  try {
    redoEffects(session, "main", effects);
    if (end === "keep nothing") session.exec("ROLLBACK TO cofferdam_order");
    return true;
  } catch (thrown) {
    session.exec("ROLLBACK TO cofferdam_order");
    if (!(thrown instanceof DriftError)) throw thrown;
    return false;
  } finally {
    session.exec("RELEASE cofferdam_order");
  }
}

/** Tries effects one by one, and those again that had to wait for others; null where some wait for each other. */
function foundByTrying(
  session: Session,
  effects: readonly RowEffect[],
): readonly RowEffect[] | null {
  const tables = tablesOf(session, "main", effects);
  const goals = new Map(effects.flatMap(goalsOf));
  session.exec("SAVEPOINT cofferdam_trial");
  const found = watching(session, "main", tables, (capture) => {
    const done: RowEffect[] = [];
    let rest = effects;
    // Tried one after the other where all that is left waits for each other.
    const splits = [(effect: RowEffect) => byWayOfNull(session, tables, effect), halves];
    while (rest.length > 0) {
      const later = rest.filter((effect) => {
        const isDone = isApplied(session, tables, capture, effect, goals);
        if (isDone) done.push(effect);
        return !isDone;
      });
      if (later.length === rest.length) {
        const split = splits.shift();
        if (split === undefined) return null;
        rest = later.flatMap(split);
      } else {
        // The other way round: what waits in a row, each one for its neighbour, is done in two rounds.
        rest = later.toReversed();
      }
    }
    return done;
  });
  session.exec("ROLLBACK TO cofferdam_trial");
  session.exec("RELEASE cofferdam_trial");
  return found;
}

function isApplied(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  capture: Capture,
  effect: RowEffect,
  goals: ReadonlyMap<string, string | null>,
): boolean {
  const table = tables.get(effect.table);
  if (table === undefined) return false;
  session.exec("SAVEPOINT cofferdam_effect");
  let isGood = false;
  try {
    applyOrTell(session, table, effect, "ABORT");
    isGood = capture.take().every((seen) => isOwn(seen, effect) || isWanted(seen, goals));
  } catch (thrown) {
    if (!(thrown instanceof DriftError)) throw thrown;
  }
  if (!isGood) {
    session.exec("ROLLBACK TO cofferdam_effect");
    capture.skip();
  }
  session.exec("RELEASE cofferdam_effect");
  return isGood;
}

function isOwn(seen: RowEffect, { table, before, after }: RowEffect): boolean {
  return seen.table === table && seen.before === before && seen.after === after;
}

/** Whether a cascade did what was to be done anyway. */
function isWanted(seen: RowEffect, goals: ReadonlyMap<string, string | null>): boolean {
  return goalsOf(seen).every(([path, image]) => goals.has(path) && goals.get(path) === image);
}

/** The rows of an effect with what becomes of them. */
function goalsOf(effect: RowEffect): readonly (readonly [string, string | null])[] {
  const { keyBefore, keyAfter, after } = effect;
  const own = keyAfter === null ? [] : [[rowPath(effect, keyAfter, null), after] as const];
  if (keyBefore === null || keyBefore.join() === keyAfter?.join()) return own;
  return [[rowPath(effect, keyBefore, null), null] as const, ...own];
}

/** A changed row in two steps: its unique values are NULL in between, and so in nobody's way. */
function byWayOfNull(
  session: Session,
  tables: ReadonlyMap<string, Table>,
  effect: RowEffect,
): readonly RowEffect[] {
  const [before, after, table] = [
    imageIn(effect.before),
    imageIn(effect.after),
    tables.get(effect.table),
  ];
  if (before === null || after === null || table === undefined) return [effect];
  const unique = uniqueColumns(session, table);
  const between = before.map(([name, value], at) => {
    const isMoved = unique.has(name) && !table.key.includes(name) && value !== after[at]?.[1];
    return [name, isMoved ? "n" : value] as const;
  });
  const { key, image, row } = sideOf(table, between);
  if (image === effect.before) return [effect];
  return [
    { ...effect, keyAfter: key, after: image, rowAfter: row },
    { ...effect, keyBefore: key, before: image, rowBefore: row },
  ];
}

function uniqueColumns(session: Session, { schema, table }: Table): ReadonlySet<string> {
  const rows = session.all(
    `SELECT i.name FROM pragma_index_list(?, ?) l, pragma_index_info(l.name, ?) i WHERE l."unique"`,
    table,
    schema,
    schema,
  );
  return new Set(rows.map(({ name }) => String(name)));
}

/** A changed row as one that goes and one that comes. */
function halves(effect: RowEffect): readonly RowEffect[] {
  if (effect.before === null || effect.after === null) return [effect];
  return [
    { ...effect, keyAfter: null, after: null, rowAfter: null },
    { ...effect, keyBefore: null, before: null, rowBefore: null },
  ];
}
