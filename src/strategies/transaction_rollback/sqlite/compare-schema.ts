import type { LoggedStatement } from "../log-entry.ts";
import { alterations, isRenamed } from "./alter-table.ts";
import { notCaptured } from "../sql/not-captured.ts";
import { type SchemaObject, changed, dropText, objectsOf } from "./schema-objects.ts";
import type { Session } from "./session.ts";
import { quoted } from "./tables.ts";

/** Numbers of the user in the header of a file: programs keep there which version of the schema it has. */
const NUMBERS = ["user_version", "application_id"] as const;
const VIRTUAL = /^CREATE VIRTUAL\b/i;

/**
 * Makes the tables of the main database those of another one, as far as their columns are concerned, and tells by which
 * statements. Everything that could be in the way of rows is made by `finishSchema`.
 * @throws DatabaseError (`DATABASE`, reason `notCaptured`).
 */
export function changeSchema(session: Session, after: string): readonly LoggedStatement[] {
  const goal = objectsOf(session, after);
  refuseVirtual(objectsOf(session, "main"), goal);
  return [
    ...changeNumbers(session, after),
    ...dropOthers(session, goal),
    ...renameTables(session, goal),
    ...alterTables(session, after, goal),
    ...dropTables(session, goal),
    ...makeMissing(session, goal, ({ type }) => type === "table"),
  ];
}

/**
 * Makes the indexes, views and triggers of the main database those of another one.
 * @throws DatabaseError (`DATABASE`, reason `notCaptured`).
 */
export function finishSchema(session: Session, after: string): readonly LoggedStatement[] {
  const goal = objectsOf(session, after);
  const done = [...dropOthers(session, goal), ...makeMissing(session, goal, () => true)];
  const main = objectsOf(session, "main");
  const isSame =
    main.size === goal.size && [...goal].every(([key, { sql }]) => main.get(key)?.sql === sql);
  if (!isSame) throw notCaptured("it changed the schema in a way that cannot be repeated");
  return done;
}

function changeNumbers(session: Session, after: string): readonly LoggedStatement[] {
  return NUMBERS.flatMap((name) => {
    const [old, now] = ["main", after].map((schema) =>
      Number(session.value(`PRAGMA ${schema}.${name}`)),
    );
    return old === now ? [] : [changed(session, `PRAGMA ${name} = ${now ?? 0}`)];
  });
}

/** Drops indexes, views and triggers that are gone or different. */
function dropOthers(
  session: Session,
  goal: ReadonlyMap<string, SchemaObject>,
): readonly LoggedStatement[] {
  const wrong = [...objectsOf(session, "main")]
    .filter(([key, { type, sql }]) => type !== "table" && goal.get(key)?.sql !== sql)
    .map(([, object]) => object);
  // Of a view its triggers go along, so they are dropped before.
  return wrong.toReversed().map((object) => changed(session, dropText(object)));
}

function makeMissing(
  session: Session,
  goal: ReadonlyMap<string, SchemaObject>,
  isWanted: (object: SchemaObject) => boolean,
): readonly LoggedStatement[] {
  const main = objectsOf(session, "main");
  return [...goal]
    .filter(([key, object]) => !main.has(key) && isWanted(object))
    .map(([, { sql }]) => changed(session, sql));
}

function renameTables(
  session: Session,
  goal: ReadonlyMap<string, SchemaObject>,
): readonly LoggedStatement[] {
  return tablesMissing(objectsOf(session, "main"), goal).flatMap((table) => {
    for (const { name } of tablesMissing(goal, objectsOf(session, "main"))) {
      const text = `ALTER TABLE ${quoted(name)} RENAME TO ${quoted(table.name)}`;
      if (isRenamed(session, text, table)) return [{ text, kind: "schema", effects: [] } as const];
    }
    return [];
  });
}

function alterTables(
  session: Session,
  after: string,
  goal: ReadonlyMap<string, SchemaObject>,
): readonly LoggedStatement[] {
  return [...objectsOf(session, "main").values()].flatMap((table) => {
    const wanted = goal.get(`table ${table.name}`);
    if (table.type !== "table" || wanted === undefined || wanted.sql === table.sql) return [];
    const texts = alterations(session, after, table, wanted);
    if (texts !== null)
      return texts.map((text) => ({ text, kind: "schema", effects: [] }) as const);
    // Its rows come back one by one, as they are afterwards.
    return [changed(session, dropText(table)), changed(session, wanted.sql)];
  });
}

function dropTables(
  session: Session,
  goal: ReadonlyMap<string, SchemaObject>,
): readonly LoggedStatement[] {
  const gone = tablesMissing(goal, objectsOf(session, "main"));
  return gone.toReversed().map((table) => changed(session, dropText(table)));
}

/** The tables of the second that the first does not have. */
function tablesMissing(
  first: ReadonlyMap<string, SchemaObject>,
  second: ReadonlyMap<string, SchemaObject>,
): readonly SchemaObject[] {
  return [...second]
    .filter(([key, { type }]) => type === "table" && !first.has(key))
    .map(([, object]) => object);
}

function refuseVirtual(
  main: ReadonlyMap<string, SchemaObject>,
  goal: ReadonlyMap<string, SchemaObject>,
): void {
  const all = new Map([...main, ...goal]);
  for (const [key, { name, sql }] of all) {
    if (main.get(key)?.sql === goal.get(key)?.sql) continue;
    if (VIRTUAL.test(sql))
      throw notCaptured(`it made, changed or dropped the virtual table ${name}`);
  }
}
