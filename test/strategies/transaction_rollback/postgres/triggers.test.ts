import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DatabaseError } from "../../../../src/index.ts";
import { PostgresServer } from "../../../support/postgres-server.ts";
import { SHOP, makeGround, rowsOf } from "../fixture.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const ROWS = "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1), (2, 2)";

function trigger(when: string, body: string): string {
  return `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body}; RETURN NULL; END $$;
    CREATE TRIGGER own AFTER ${when} EXECUTE FUNCTION f();`;
}

describe("rows that change while triggers are switched off by the script", () => {
  const inside = "DO $$ BEGIN UPDATE t SET v = 20 WHERE id = 2; END $$";
  const nested = "WITH x AS (UPDATE t SET v = 20 WHERE id = 2 RETURNING 1) SELECT count(*) FROM x";
  it.each([
    ["USER", inside],
    ["ALL", nested],
    ["USER", "UPDATE t SET v = 20 WHERE id = 2"],
  ])("by DISABLE TRIGGER %s are recorded: %s", async (which, change) => {
    const ground = makeGround(server, ROWS);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write(
      "script",
      `UPDATE t SET v = 10 WHERE id = 1; ALTER TABLE t DISABLE TRIGGER ${which}; ${change}; ALTER TABLE t ENABLE TRIGGER ${which}`,
    );
    await sandbox.write("more", "UPDATE t SET v = v + 1");
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM t ORDER BY id")).toEqual(["1|11", "2|21"]);
    expect(ground.sql("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal")).toEqual([]);
  });

  it("in an earlier script are recorded, also where checks wait for the end", async () => {
    const ground = makeGround(
      server,
      `${ROWS}; CREATE TABLE c (id int PRIMARY KEY, t int REFERENCES t DEFERRABLE INITIALLY DEFERRED)`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("off", "ALTER TABLE c DISABLE TRIGGER USER; INSERT INTO c VALUES (1, 9)");
    await sandbox.write("more", `INSERT INTO c VALUES (2, 9); INSERT INTO t VALUES (9, 9)`);
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM c ORDER BY id")).toEqual(["1|9", "2|9"]);
  });

  it("by session_replication_role are recorded", async () => {
    const ground = makeGround(server, ROWS);
    server.sql("postgres", `ALTER ROLE ${ground.database.role} SUPERUSER`);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write(
      "script",
      `UPDATE t SET v = 10 WHERE id = 1; ALTER TABLE t ENABLE TRIGGER ALL;
       DO $$ BEGIN SET LOCAL session_replication_role = replica; UPDATE t SET v = 20 WHERE id = 2; END $$`,
    );
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM t ORDER BY id")).toEqual(["1|10", "2|20"]);
  });

  it.each([
    "ALTER TABLE t DISABLE TRIGGER zzz_cofferdam_capture",
    "DROP TRIGGER zzz_cofferdam_capture ON t",
    'DROP TRIGGER "zzz_cofferdam_capture" ON t',
    "DROP FUNCTION pg_temp.cofferdam_capture CASCADE",
    'ALTER TABLE t DISABLE TRIGGER "zzz_cofferdam_capture"',
  ])("by %s keep the script from being taken", async (statement) => {
    const ground = makeGround(server, ROWS);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    const writing = sandbox.write("script", `UPDATE t SET v = 10 WHERE id = 1; ${statement}`);
    await expect(writing).rejects.toBeInstanceOf(DatabaseError);
    await expect(writing).rejects.toMatchObject({ code: "DATABASE", data: { position: 2 } });
    expect((await sandbox.diff()).isEmpty).toBe(true);
  });
});

describe("a trigger that changes the very rows that its statement changes", () => {
  it.each([
    [
      "the row that was inserted",
      `CREATE TABLE t (id int PRIMARY KEY, title text, slug text);
       ${trigger("INSERT ON t FOR EACH ROW", "UPDATE t SET slug = NEW.id || NEW.title WHERE id = NEW.id")}`,
      "INSERT INTO t VALUES (1, 'a'), (2, 'b')",
      ["added public.t/1", "added public.t/2"],
    ],
    [
      "the row that was updated",
      `${ROWS}; ${trigger("UPDATE ON t FOR EACH ROW WHEN (NEW.v < 10)", "UPDATE t SET v = v + 5 WHERE id = NEW.id")}`,
      "UPDATE t SET v = v + 1",
      ["modified public.t/1", "modified public.t/2"],
    ],
    [
      "the row that was updated, back to what it was",
      `${ROWS}; ${trigger("UPDATE ON t FOR EACH ROW WHEN (NEW.v > OLD.v)", "UPDATE t SET v = OLD.v WHERE id = NEW.id")}`,
      "UPDATE t SET v = v + 1; INSERT INTO t VALUES (3, 3)",
      ["added public.t/3"],
    ],
    [
      "other rows of the same statement",
      `CREATE TABLE t (id int PRIMARY KEY, up int, path text); INSERT INTO t VALUES (1, NULL, '1'), (2, 1, '1/2'), (3, 2, '1/2/3');
       ${trigger("UPDATE ON t FOR EACH ROW WHEN (OLD.path IS DISTINCT FROM NEW.path)", "UPDATE t SET path = NEW.path || '/' || id WHERE up = NEW.id")}`,
      "UPDATE t SET path = 'X/' || path",
      ["modified public.t/1", "modified public.t/2", "modified public.t/3"],
    ],
    [
      "a row that was deleted, which it inserts again",
      `${ROWS}; ${trigger("DELETE ON t FOR EACH ROW", "INSERT INTO t VALUES (OLD.id, OLD.v + 1)")}`,
      "DELETE FROM t",
      ["modified public.t/1", "modified public.t/2"],
    ],
    [
      "the key of the row",
      `${ROWS}; ${trigger("UPDATE ON t FOR EACH ROW WHEN (NEW.id < 10)", "UPDATE t SET id = id + 10 WHERE id = NEW.id")}`,
      "UPDATE t SET v = v + 1, id = id + 5",
      ["added public.t/16", "added public.t/17", "deleted public.t/1", "deleted public.t/2"],
    ],
    [
      "rows without a key",
      `CREATE TABLE t (id int, v int); INSERT INTO t VALUES (1, 1), (2, 1), (2, 1);
       ${trigger("UPDATE ON t FOR EACH ROW WHEN (NEW.v < 4)", "UPDATE t SET v = v + 1 WHERE id = NEW.id")}`,
      "UPDATE t SET v = v + 1",
      [],
    ],
  ])("and changes %s is repeated by a commit, and undone", async (_, setup, script, expected) => {
    const ground = makeGround(server, setup);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    const query = "SELECT t::text AS r FROM t ORDER BY 1";
    const before = ground.sql(query);
    await sandbox.write("script", script);
    const told = (await sandbox.diff()).changes.map(({ kind, path }) => `${kind} ${path}`);
    expect(told.filter((line) => !line.includes("@")).toSorted()).toEqual(expected);
    const seen = (rowsOf(await sandbox.read(query)) as { r: string }[]).map(({ r }) => r);
    await sandbox.commit();
    expect(ground.sql(query)).toEqual(seen);
    await sandbox.undoCommit();
    expect(ground.sql(query)).toEqual(before);
    ground.sql(script);
    expect(ground.sql(query)).toEqual(seen);
  });
});

it("rows that an event trigger writes along with a change of the schema keep it from being taken", async () => {
  const ground = makeGround(server, "CREATE TABLE said (tag text)");
  server.sql(
    ground.database.name,
    `CREATE FUNCTION say() RETURNS event_trigger LANGUAGE plpgsql SECURITY DEFINER AS
       $$ BEGIN INSERT INTO public.said VALUES (tg_tag); END $$;
     CREATE EVENT TRIGGER say ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION say()`,
  );
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  const refusal = { code: "DATABASE", data: { reason: "notCaptured" } };
  const make = "CREATE TABLE n (id int)";
  await expect(sandbox.write("make", make)).rejects.toMatchObject(refusal);
  const both = `INSERT INTO said VALUES ('by hand'); ${make}`;
  await expect(sandbox.write("both", both)).rejects.toMatchObject(refusal);
  expect((await sandbox.diff()).isEmpty).toBe(true);
});

it("rows that a function changes behind a change of the schema keep it from being taken, seen or not", async () => {
  const ground = makeGround(
    server,
    `${ROWS}; CREATE TABLE u (id int PRIMARY KEY, v int); INSERT INTO u VALUES (1, 1);
     CREATE FUNCTION sly(v int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN
       ALTER TABLE u DISABLE TRIGGER USER; UPDATE u SET v = u.v + 1; ALTER TABLE u ENABLE TRIGGER USER;
       RETURN v; END $$`,
  );
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  const script = "UPDATE u SET v = 5; CREATE INDEX ON t (sly(v))";
  await expect(sandbox.write("sly", script)).rejects.toMatchObject({ code: "DATABASE" });
  expect((await sandbox.diff()).isEmpty).toBe(true);
});

it("a row that a trigger changes while a cascade moves it is committed and taken back (R90, R96)", async () => {
  const ground = makeGround(
    server,
    `CREATE TABLE items (sku text PRIMARY KEY, n int);
     CREATE TABLE stock (sku text PRIMARY KEY REFERENCES items ON UPDATE CASCADE, n int);
     CREATE TABLE lines (id int PRIMARY KEY, sku text REFERENCES items ON UPDATE CASCADE, n int);
     CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql AS
       $$BEGIN UPDATE stock SET n = n + 1 WHERE sku = NEW.sku; RETURN NEW; END$$;
     CREATE TRIGGER c BEFORE UPDATE ON lines FOR EACH ROW EXECUTE FUNCTION counted();
     INSERT INTO items VALUES ('a', 1), ('b', 2); INSERT INTO stock VALUES ('a', 1), ('b', 2);
     INSERT INTO lines VALUES (1, 'a', 1), (2, 'a', 2), (3, 'b', 3)`,
  );
  const all = (): string[] =>
    ground.sql("TABLE items; TABLE stock ORDER BY 1; SELECT * FROM lines ORDER BY 1");
  const before = all();
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write(
    "w",
    "UPDATE items SET sku = 'new', n = 5 WHERE sku = 'a'; DELETE FROM lines WHERE id = 3",
  );
  await sandbox.commit();
  expect(ground.sql("TABLE stock ORDER BY 1; SELECT * FROM lines ORDER BY 1")).toEqual([
    "b|2",
    "new|3",
    "1|new|1",
    "2|new|2",
  ]);
  await sandbox.undoCommit();
  expect(all().sort()).toEqual(before.sort());
  await sandbox.commit();
  ground.sql("INSERT INTO lines VALUES (9, 'new', 9)");
  await expect(sandbox.undoCommit()).rejects.toMatchObject({ data: { reason: "foreignEdits" } });
  expect(ground.sql("SELECT sku FROM items ORDER BY 1")).toEqual(["b", "new"]);
});
