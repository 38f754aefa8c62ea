import { expect, it } from "vitest";
import { Ground, psql, useServer } from "./ground.ts";

const on = useServer();

const FAMILIES = `CREATE TABLE parents (id int PRIMARY KEY, name text UNIQUE);
  CREATE TABLE children (id int PRIMARY KEY, parent int REFERENCES parents ON DELETE CASCADE ON UPDATE CASCADE);
  CREATE TABLE friends (id int PRIMARY KEY, parent int REFERENCES parents ON DELETE SET NULL, note text);
  INSERT INTO parents VALUES (1, 'a'), (2, 'b'), (3, 'c');
  INSERT INTO children VALUES (1, 1), (2, 1), (3, 2);
  INSERT INTO friends VALUES (1, 1, ''), (2, 3, '')`;
const AUDITED = `CREATE TYPE mood AS ENUM ('sad', 'ok', 'glad');
  CREATE TABLE jobs (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, size int, feels mood DEFAULT 'ok',
    twice int GENERATED ALWAYS AS (size * 2) STORED);
  CREATE TABLE audit (at serial PRIMARY KEY, what text);
  CREATE FUNCTION audited() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO audit (what) VALUES (TG_OP || ' ' || coalesce(NEW.id, OLD.id)); RETURN NULL; END $$;
  CREATE TRIGGER audited AFTER INSERT OR UPDATE OR DELETE ON jobs FOR EACH ROW EXECUTE FUNCTION audited();
  INSERT INTO jobs (name, size) VALUES ('a', 1), ('b', 2)`;
const NUMBERS = `CREATE TABLE numbers (id int PRIMARY KEY, n int UNIQUE);
  INSERT INTO numbers VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)`;

/** Edits of rows, which a commit can take back. */
const ROWS: readonly (readonly [what: string, setup: string, statements: string])[] = [
  [
    "rows with triggers, enums, generated columns and identities, all of it once",
    AUDITED,
    `INSERT INTO jobs (name, size, feels) VALUES ('c', 3, 'glad'); UPDATE jobs SET size = 9 WHERE name = 'a';
     DELETE FROM jobs WHERE name = 'b'`,
  ],
  [
    "a row that was replaced by one with the same key",
    "CREATE TABLE t (id int PRIMARY KEY, n int GENERATED ALWAYS AS IDENTITY, s text); INSERT INTO t (id, s) VALUES (1, 'x'), (2, 'y')",
    "DELETE FROM t WHERE id = 1; INSERT INTO t (id, s) VALUES (1, 'z')",
  ],
  ["deleted parents with what follows", FAMILIES, "DELETE FROM parents WHERE id IN (1, 3)"],
  [
    "children that changed parents before one went",
    FAMILIES,
    "INSERT INTO parents VALUES (9, 'z'); UPDATE children SET parent = 9 WHERE id = 1; UPDATE friends SET note = 'left' WHERE id = 1; DELETE FROM parents WHERE id = 1",
  ],
  ["a key that moved, with its children", FAMILIES, "UPDATE parents SET id = 7 WHERE id = 2"],
  [
    "unique values that went around",
    NUMBERS,
    "UPDATE numbers SET n = n + 100; UPDATE numbers SET n = (n - 100) % 5 + 1",
  ],
  [
    "a unique value for another row",
    NUMBERS,
    "DELETE FROM numbers WHERE id = 3; INSERT INTO numbers VALUES (6, 3)",
  ],
  [
    "rows that exclude each other",
    `CREATE TABLE stays (id int PRIMARY KEY, during int4range, EXCLUDE USING gist (during WITH &&));
     INSERT INTO stays VALUES (1, '[1,5)'), (2, '[5,9)')`,
    "DELETE FROM stays WHERE id = 1; INSERT INTO stays VALUES (3, '[2,4)'); UPDATE stays SET during = '[5,8)' WHERE id = 2",
  ],
  [
    "rows without a key, equal ones among them",
    "CREATE TABLE notes (what text, n int); INSERT INTO notes VALUES ('a', 1), ('a', 1), ('a', 1), ('b', 2), (NULL, NULL)",
    "DELETE FROM notes WHERE ctid IN (SELECT ctid FROM notes WHERE what = 'a' LIMIT 2); INSERT INTO notes VALUES ('c', 3), ('c', 3); UPDATE notes SET n = 5 WHERE what = 'b'",
  ],
  [
    "partitions, also a row that moved to another one",
    `CREATE TABLE events (id int, kind text, what text, PRIMARY KEY (kind, id)) PARTITION BY LIST (kind);
     CREATE TABLE events_a PARTITION OF events FOR VALUES IN ('a'); CREATE TABLE events_b PARTITION OF events DEFAULT;
     INSERT INTO events VALUES (1, 'a', 'x'), (2, 'b', 'y')`,
    "UPDATE events SET kind = 'c' WHERE id = 1; INSERT INTO events VALUES (3, 'a', 'z')",
  ],
  [
    "what COPY and TRUNCATE did, which no statement of a sandbox may",
    `${NUMBERS}; CREATE TABLE old AS SELECT generate_series(1, 50) AS n`,
    "TRUNCATE old; COPY numbers FROM PROGRAM 'true'; INSERT INTO old VALUES (7)",
  ],
  [
    "odd names and values",
    `CREATE SCHEMA "Odd.""one"; CREATE TABLE "Odd.""one"."t/a b" ("the key" text, "T" float8, t jsonb, at timestamptz, b bytea, PRIMARY KEY ("the key", at));
     INSERT INTO "Odd.""one"."t/a b" VALUES ('a,b', 'NaN', '{"x": [1, null]}', 'infinity', '\\x00ff'), (E'new\\nline', 1e-300, NULL, '2020-01-01', NULL)`,
    `UPDATE "Odd.""one"."t/a b" SET "T" = '-Infinity', t = '"t"' WHERE "the key" = 'a,b'; DELETE FROM "Odd.""one"."t/a b" WHERE "T" = 1e-300; INSERT INTO "Odd.""one"."t/a b" VALUES ('', 0.1, '[]', '1999-12-31 23:59:59.123456+05', '')`,
  ],
  [
    "constraints that wait for the end",
    `CREATE TABLE a (id int PRIMARY KEY, b int); CREATE TABLE b (id int PRIMARY KEY, a int REFERENCES a DEFERRABLE INITIALLY DEFERRED);
     ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b DEFERRABLE INITIALLY DEFERRED`,
    "BEGIN; INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1); COMMIT",
  ],
  [
    "constraints that were told to wait for the end",
    `CREATE TABLE a (id int PRIMARY KEY, b int NOT NULL); CREATE TABLE b (id int PRIMARY KEY, a int NOT NULL REFERENCES a);
     ALTER TABLE a ADD FOREIGN KEY (b) REFERENCES b DEFERRABLE; CREATE TABLE seen (id int);
     CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen VALUES (NEW.id); RETURN NULL; END $$;
     CREATE TRIGGER seen AFTER INSERT ON a FOR EACH ROW EXECUTE FUNCTION see()`,
    "BEGIN; SET CONSTRAINTS ALL DEFERRED; INSERT INTO a VALUES (1, 1); INSERT INTO b VALUES (1, 1); COMMIT",
  ],
  [
    "many rows, of which few changed",
    "CREATE TABLE many AS SELECT n AS id, md5(n::text) AS what FROM generate_series(1, 20000) n; ALTER TABLE many ADD PRIMARY KEY (id)",
    "UPDATE many SET what = 'x' WHERE id % 4000 = 7; DELETE FROM many WHERE id = 19999; INSERT INTO many VALUES (0, 'zero')",
  ],
];

/** All rows of all tables as the server's own program tells them. */
function dump(ground: Ground, database = ground.database.name): string[] {
  const tables = ground.server.sql(
    database,
    "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname !~ '^(pg_|information_schema)' ORDER BY 1",
  );
  const copies = tables.flatMap((table) => [
    `\\echo ${table}`,
    `COPY (SELECT * FROM ONLY ${table} every_row ORDER BY every_row::text) TO STDOUT;`,
  ]);
  return ground.server.sql(database, copies.join("\n"));
}

it.each(ROWS)("takes %s", async (_what, setup, statements) => {
  const ground = new Ground(on.server, setup);
  const { name, role } = ground.database;
  // What the same statements do without any sandbox.
  on.server.sql(
    "postgres",
    `CREATE DATABASE ${name}_plain TEMPLATE ${name} OWNER ${role}; GRANT pg_execute_server_program TO ${role}`,
  );
  const before = dump(ground);
  on.server.sql({ ...ground.database, name: `${name}_plain` }, statements);
  const plain = dump(ground, `${name}_plain`);
  expect(plain).not.toEqual(before);
  await using cofferdam = await ground.open();
  const plan = await ground.plan(cofferdam);
  expect(await ground.run(plan, psql(statements))).toMatchObject({ exitCode: 0 });
  expect(dump(ground)).toEqual(before);
  await plan.commit();
  expect(dump(ground)).toEqual(plain);
  await plan.undo();
  expect(dump(ground)).toEqual(before);
  await plan.commit();
  await plan.cleanup();
  expect(dump(ground)).toEqual(plain);
  expect(ground.clones()).toEqual([]);
});
