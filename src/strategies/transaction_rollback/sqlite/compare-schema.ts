import { DriftError } from "../engine.ts";
import type { LoggedStatement } from "../log-entry.ts";
import { alterations, isRenamed } from "./alter-table.ts";
import { notCaptured } from "../sql/not-captured.ts";
import { applySchema } from "./repeat-schema.ts";
import { type SchemaObject, changed, dropText, objectsOf } from "./schema-objects.ts";
import type { Session } from "./session.ts";
import { tableDigest } from "./table-digest.ts";
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
    ...makeTablesAgain(session, goal),
    ...makeMissing(session, goal, ({ type }) => type === "table"),
  ];
}

/**
 * Drops tables that are gone, and makes the indexes, views and triggers of the main database those of another one. The
 * rows that went along with a table are among the recorded ones by then, so that dropping it takes no others.
 * @throws DatabaseError (`DATABASE`, reason `notCaptured`).
 */
export function finishSchema(session: Session, after: string): readonly LoggedStatement[] {
  const goal = objectsOf(session, after);
  const done = [
    ...dropOthers(session, goal),
    ...dropTables(session, goal),
    ...makeMissing(session, goal, () => true),
  ];
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

/** One change may bring several tables nearer: a column that is renamed has its new name in foreign keys too. */
function alterTables(
  session: Session,
  after: string,
  goal: ReadonlyMap<string, SchemaObject>,
): readonly LoggedStatement[] {
  const done: LoggedStatement[] = [];
  for (let count = -1; count !== done.length;) {
    count = done.length;
    for (const { table, wanted } of differentTables(session, goal)) {
      if (sqlNow(session, table) === wanted.sql) continue;
      const texts = alterations(session, after, table, wanted) ?? [];
      done.push(...texts.map((text) => ({ text, kind: "schema", effects: [] }) as const));
    }
  }
  return done;
}

/** Any other table that is different is dropped and made again; its rows come back one by one, as they are afterwards. */
function makeTablesAgain(
  session: Session,
  goal: ReadonlyMap<string, SchemaObject>,
): readonly LoggedStatement[] {
  return differentTables(session, goal).flatMap(({ table, wanted }) => {
    const drop = dropOf(session, table, true);
    const make = { text: wanted.sql, kind: "schema", effects: [] } as const;
    applySchema(session, "main", drop, make);
    return [drop, make];
  });
}

/** Tables that have another definition, or the same name in other letters. */
function differentTables(
  session: Session,
  goal: ReadonlyMap<string, SchemaObject>,
): { readonly table: SchemaObject; readonly wanted: SchemaObject }[] {
  const main = objectsOf(session, "main");
  const tables = [...goal.values()].filter(({ type }) => type === "table");
  return [...main.values()].flatMap((table) => {
    if (table.type !== "table") return [];
    const wanted = tables.find(({ name }) => name.toLowerCase() === table.name.toLowerCase());
    return wanted === undefined || wanted.sql === table.sql ? [] : [{ table, wanted }];
  });
}

function sqlNow(session: Session, { type, name }: SchemaObject): string | undefined {
  return objectsOf(session, "main").get(`${type} ${name}`)?.sql;
}

/** Those that others refer to come last: a cascade would take rows along. */
function dropTables(
  session: Session,
  goal: ReadonlyMap<string, SchemaObject>,
): readonly LoggedStatement[] {
  const done: LoggedStatement[] = [];
  let rest = tablesMissing(goal, objectsOf(session, "main")).toReversed();
  while (rest.length > 0) {
    const later = rest.filter((table) => {
      const drop = dropOf(session, table, false);
      const isDropped = isPossible(session, () => applySchema(session, "main", drop));
      if (isDropped) done.push(drop);
      return !isDropped;
    });
    if (later.length === rest.length)
      throw notCaptured(`rows of other tables depend on those of ${later[0]?.name ?? ""}`);
    rest = later;
  }
  return done;
}

function dropOf(session: Session, table: SchemaObject, isMadeAgain: boolean): LoggedStatement {
  const digest = tableDigest(session, "main", table.name);
  const drops = [{ table: table.name, digest, isMadeAgain }];
  return { text: dropText(table), kind: "schema", effects: [], drops };
}

/** Whether something goes well; where it does not, nothing has changed. */
function isPossible(session: Session, work: () => void): boolean {
  session.exec("SAVEPOINT cofferdam_drop");
  try {
    work();
    return true;
  } catch (thrown) {
    if (!(thrown instanceof DriftError)) throw thrown;
    session.exec("ROLLBACK TO cofferdam_drop");
    return false;
  } finally {
    session.exec("RELEASE cofferdam_drop");
  }
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
