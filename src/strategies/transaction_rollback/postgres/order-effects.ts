import { DriftError } from "../engine.ts";
import { type RowEffect, inverted } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { notCaptured } from "../sql/not-captured.ts";
import { kindOf } from "../sql/row-store.ts";
import { redo } from "./redo.ts";
import { type Session, sqlStateOf } from "./session.ts";

/** The class of all violated constraints. */
const INTEGRITY = "23";
const REFERENCES = `SELECT DISTINCT cn.nspname AS child_schema, c.relname AS child, pn.nspname AS parent_schema, p.relname AS parent
  FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace cn ON cn.oid = c.relnamespace
  JOIN pg_class p ON p.oid = k.confrelid JOIN pg_namespace pn ON pn.oid = p.relnamespace
 WHERE k.contype = 'f' AND c.oid <> p.oid`;

/**
 * Brings effects that are known only by their result into an order in which they can be repeated, and taken back: a
 * cascade must find nothing that is to stay, and a unique value must be free before another row takes it. What is given
 * was tried in this database, in a transaction that is rolled back.
 * @throws DatabaseError (`DATABASE`, reason `notCaptured`).
 */
export async function orderEffects(
  session: Session,
  effects: readonly RowEffect[],
): Promise<readonly RowEffect[]> {
  if (effects.length === 0) return [];
  const depths = await depthsOf(session);
  let forward: readonly RowEffect[] | null = null;
  for (const order of orders(effects, depths)) {
    if (!(await isRepeated(session, [order]))) continue;
    forward ??= order;
    const back = order.toReversed().map(inverted);
    if (await isRepeated(session, [order, back])) return order;
  }
  // One that cannot be taken back is better than none: the undo says so then.
  if (forward !== null) return forward;
  throw notCaptured("its rows depend on each other in a way that cannot be repeated");
}

/** What may do, the likeliest first. */
function* orders(
  effects: readonly RowEffect[],
  depths: ReadonlyMap<string, number>,
): Generator<readonly RowEffect[]> {
  const of = (kind: string, from = effects): readonly RowEffect[] =>
    from.filter((effect) => kindOf(effect) === kind);
  const parentsFirst = (list: readonly RowEffect[]): readonly RowEffect[] =>
    list.toSorted((a, b) => depthOf(depths, a) - depthOf(depths, b));
  const childrenFirst = (list: readonly RowEffect[]): readonly RowEffect[] =>
    list.toSorted((a, b) => depthOf(depths, b) - depthOf(depths, a));
  const [made, gone] = [parentsFirst(of("insert")), childrenFirst(of("delete"))];
  yield [...made, ...parentsFirst(of("update")), ...gone];
  yield [...gone, ...parentsFirst(of("update")), ...made];
  const halves = effects.flatMap(halvesOf);
  yield [...childrenFirst(of("delete", halves)), ...parentsFirst(of("insert", halves))];
}

/** A changed row as one that goes and one that comes. */
function halvesOf(effect: RowEffect): readonly RowEffect[] {
  if (kindOf(effect) !== "update") return [effect];
  return [
    { ...effect, keyAfter: null, after: null, rowAfter: null },
    { ...effect, keyBefore: null, before: null, rowBefore: null },
  ];
}

/** Applies effects as commits will; nothing is kept. */
async function isRepeated(
  session: Session,
  groups: readonly (readonly RowEffect[])[],
): Promise<boolean> {
  await session.run("BEGIN");
  try {
    for (const effects of groups) {
      const statement = { text: "", kind: "rows", effects } as const;
      await redo(session, [{ name: "", at: "", statements: [statement], sequences: {} }]);
      await session.run("SET CONSTRAINTS ALL IMMEDIATE");
    }
    return true;
  } catch (thrown) {
    const isViolation = sqlStateOf(thrown)?.startsWith(INTEGRITY) === true;
    if (!(thrown instanceof DriftError) && !isViolation) throw thrown;
    return false;
  } finally {
    await session.run("ROLLBACK");
  }
}

function depthOf(depths: ReadonlyMap<string, number>, effect: RowEffect): number {
  return depths.get(tablePath(effect)) ?? 0;
}

/** How many tables have to come before a table, by path; in a circle of references any number will do. */
async function depthsOf(session: Session): Promise<ReadonlyMap<string, number>> {
  const references = (await session.run(REFERENCES)).map((row) => ({
    child: tablePath({ schema: row["child_schema"] ?? "", table: row["child"] ?? "" }),
    parent: tablePath({ schema: row["parent_schema"] ?? "", table: row["parent"] ?? "" }),
  }));
  const depths = new Map<string, number>();
  // No path without a circle is longer than there are references.
  for (let round = 0; round <= references.length; round += 1) {
    let isSettled = true;
    for (const { child, parent } of references) {
      const depth = (depths.get(parent) ?? 0) + 1;
      if (depth <= (depths.get(child) ?? 0) || depth > references.length) continue;
      depths.set(child, depth);
      isSettled = false;
    }
    if (isSettled) break;
  }
  return depths;
}
