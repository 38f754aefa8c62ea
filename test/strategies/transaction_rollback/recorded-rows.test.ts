import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Change, SandboxPathError } from "../../../src/index.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { type Ground, SHOP, makeGround, rowsOf } from "./fixture.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const SCHEMA = `
  CREATE TYPE mood AS ENUM ('good', 'bad');
  CREATE TABLE authors (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL UNIQUE, feels mood DEFAULT 'good',
    tags text[], settings json, born timestamptz, photo bytea, weight double precision, span interval);
  CREATE TABLE books (
    author bigint REFERENCES authors ON DELETE CASCADE ON UPDATE CASCADE, number int, title text,
    shout text GENERATED ALWAYS AS (upper(title)) STORED, PRIMARY KEY (author, number));
  CREATE TABLE history (at serial PRIMARY KEY, what text, chance double precision DEFAULT random());
  CREATE TABLE notes (line text);
  CREATE FUNCTION remember() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO history (what) VALUES (TG_OP || ' ' || coalesce(NEW.name, OLD.name)); RETURN NULL; END $$;
  CREATE TRIGGER remember AFTER INSERT OR UPDATE OR DELETE ON authors FOR EACH ROW EXECUTE FUNCTION remember();
  CREATE FUNCTION tidy() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.title := trim(NEW.title); RETURN NEW; END $$;
  CREATE TRIGGER tidy BEFORE INSERT OR UPDATE ON books FOR EACH ROW EXECUTE FUNCTION tidy();
  CREATE TABLE days (day date, what text, PRIMARY KEY (day, what)) PARTITION BY RANGE (day);
  CREATE TABLE days_old PARTITION OF days FOR VALUES FROM ('2000-01-01') TO ('2020-01-01');
  CREATE TABLE days_new PARTITION OF days FOR VALUES FROM ('2020-01-01') TO ('2040-01-01');
  INSERT INTO authors (name, tags, settings, born, photo, weight, span) VALUES
    ('Ada', '{a,"b c",NULL}', '{"b" : 1,  "a": 2}', '2001-02-03 04:05:06.789+02', '\\x00ff', 0.1, '1 mon 2 days'),
    ('Ben', NULL, NULL, 'infinity', NULL, 'NaN', NULL);
  INSERT INTO books VALUES (1, 1, 'One'), (1, 2, 'Two'), (2, 1, 'Three');
  INSERT INTO days VALUES ('2010-01-01', 'x');
  INSERT INTO notes VALUES ('same'), ('same'), ('other');
  TRUNCATE history;`;

const SCRIPT = `
  INSERT INTO authors (name, tags) VALUES ('Cyd;--', ARRAY['it''s', E'tab\\t']);
  UPDATE authors SET name = 'Ada L.', weight = weight + 0.2 WHERE name = 'Ada';
  /* a comment; with /* another */ semicolon */
  INSERT INTO books (author, number, title) SELECT id, 1, '  First  ' FROM authors WHERE name LIKE 'Cyd%';
  UPDATE books SET number = number + 10 WHERE author = 1;
  DELETE FROM authors WHERE name = 'Ben';
  UPDATE days SET day = '2030-05-05' WHERE what = 'x';
  DELETE FROM notes WHERE ctid = (SELECT min(ctid) FROM notes);
  UPDATE notes SET line = $tag$changed; $tag$ WHERE line = 'other';
  DO $$ BEGIN INSERT INTO history (what) VALUES ('done; by hand'); END $$`;

const TABLES = ["authors", "books", "history", "notes", "days"];

function everything(ground: Ground): string[] {
  return TABLES.flatMap((table) => ground.sql(`SELECT t::text FROM ${table} t ORDER BY t::text`));
}

describe("what is recorded", () => {
  it("is exactly what a commit publishes, with cascades, triggers, defaults and partitions (R96)", async () => {
    const ground = makeGround(server, SCHEMA);
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    const sandbox = cofferdam.sandbox(ref);
    const before = everything(ground);
    await sandbox.write("script.sql", SCRIPT);
    expect(everything(ground)).toEqual(before);
    const seen: string[] = [];
    for (const table of TABLES) {
      const query = `SELECT t::text AS r FROM ${table} t ORDER BY t::text`;
      seen.push(...(rowsOf(await sandbox.read(query)) as { r: string }[]).map(({ r }) => r));
    }
    const { changes } = await sandbox.diff();
    const told = changes.map(({ kind, path }) => `${kind} ${path}`);
    expect(told).toEqual(
      expect.arrayContaining([
        "modified public.authors/1",
        "deleted public.authors/2",
        "deleted public.books/1,1",
        "added public.books/1,11",
        "deleted public.books/2,1",
        "added public.days_new/2030-05-05,x",
        "deleted public.days_old/2010-01-01,x",
      ]),
    );
    expect(told.filter((line) => line.startsWith("added public.history/"))).toHaveLength(4);
    await sandbox.commit();
    expect(everything(ground)).toEqual(seen);
    expect(ground.sql("SELECT title, shout FROM books WHERE author > 2")).toEqual(["First|FIRST"]);
    const enabled =
      "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled = 'O' ORDER BY 1";
    expect(ground.sql(enabled)).toEqual(["remember", "tidy"]);
    await sandbox.undoCommit();
    expect(everything(ground)).toEqual(before);
    await sandbox.commit();
    expect(everything(ground)).toEqual(seen);
  });

  it("is every row also where other tables are touched each time that a statement is run (R96)", async () => {
    const ground = makeGround(
      server,
      `CREATE SEQUENCE turns;
       CREATE TABLE parts (part int, line text) PARTITION BY LIST (part);
       CREATE TABLE parts_0 PARTITION OF parts FOR VALUES IN (0);
       CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1)`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    // Its first run touches one part only, and no rollback takes a sequence back.
    await sandbox.write(
      "script.sql",
      `INSERT INTO parts VALUES (CASE WHEN nextval('turns') = 1 THEN 0 ELSE 1 END, 'turned'), (0, 'fixed');
       UPDATE parts SET line = line || '!'`,
    );
    expect((await sandbox.diff()).changes).toHaveLength(2);
    await sandbox.commit();
    const rows = ground.sql("SELECT part, line FROM parts ORDER BY part");
    expect(rows).toEqual(["0|fixed!", "1|turned!"]);
  });

  it("has rows by their key, before and after, as one column a line (R96)", async () => {
    const ground = makeGround(server, SCHEMA);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("one", "UPDATE authors SET feels = 'bad' WHERE id = 2");
    const view = await sandbox.diff();
    expect(await view.text({ paths: ["public.authors"] })).toContain(
      '- "feels":"good",\n+ "feels":"bad",',
    );
    const row = Buffer.from(await sandbox.read("public.authors/2")).toString("utf8");
    expect(row).toContain('"feels":"bad"');
    const [change] = view.changes.filter(({ path }: Change) => path === "public.authors/2");
    expect(change?.after?.size).toBe(Buffer.byteLength(row));
    const missing = sandbox.read("public.authors/77");
    await expect(missing).rejects.toBeInstanceOf(SandboxPathError);
    await expect(missing).rejects.toMatchObject({
      code: "SANDBOX_PATH",
      data: { reason: "missing" },
    });
  });

  it("tells rows apart whatever their names and keys are", async () => {
    const setup = `CREATE SCHEMA "Odd Place"; CREATE TABLE "Odd Place"."my ""table" ("the key" text, temp int, "x'y" text, PRIMARY KEY (temp, "the key"))`;
    const ground = makeGround(server, setup);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    const table = `"Odd Place"."my ""table"`;
    await sandbox.write("a", `INSERT INTO ${table} VALUES ('a/b,c', 1, 'it''s'), ('50%', 2, NULL)`);
    await sandbox.write("b", `UPDATE ${table} SET temp = 3, "x'y" = '"' WHERE temp = 2`);
    const paths = (await sandbox.diff()).changes.map(({ path }) => path);
    expect(paths).toEqual([
      "Odd%20Place.my%20%22table/1,a%2Fb%2Cc",
      "Odd%20Place.my%20%22table/3,50%25",
    ]);
    const row = await sandbox.read(paths[0] ?? "");
    expect(rowsOf(row)).toEqual({ "the key": "a/b,c", temp: 1, "x'y": "it's" });
    await sandbox.commit();
    expect(ground.sql(`SELECT * FROM ${table} ORDER BY temp`)).toEqual(["a/b,c|1|it's", '50%|3|"']);
    await sandbox.rollback();
    expect(ground.sql(`SELECT * FROM ${table}`)).toEqual([]);
  });

  it("names of other languages can be read, and one with a dot leads to its rows", async () => {
    const ground = makeGround(server, `CREATE TABLE "größe.äpfel" (name text PRIMARY KEY, n int)`);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("a", `INSERT INTO "größe.äpfel" VALUES ('Ärger v1.2', 1)`);
    const paths = (await sandbox.diff()).changes.map(({ path }) => path);
    expect(paths).toEqual(["public.größe%2Eäpfel/Ärger%20v1.2"]);
    expect(rowsOf(await sandbox.read(paths[0] ?? ""))).toEqual({ name: "Ärger v1.2", n: 1 });
  });

  it("keeps numbers that a sequence handed out from being handed out again", async () => {
    const ground = makeGround(server, "CREATE SCHEMA empty");
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    await cofferdam
      .sandbox(ref)
      .write("make", "CREATE TABLE people (id serial PRIMARY KEY, name text)");
    await cofferdam.sandbox(ref).write("fill", "INSERT INTO people (name) VALUES ('a'), ('b')");
    await using other = await ground.open();
    await other.sandbox(ref).write("more", "INSERT INTO people (name) VALUES ('c')");
    await other.sandbox(ref).commit();
    ground.sql("INSERT INTO people (name) VALUES ('d')");
    expect(ground.sql("SELECT * FROM people ORDER BY id")).toEqual(["1|a", "2|b", "3|c", "4|d"]);
  });

  it("is the same rows again where a statement alone would give others", async () => {
    const ground = makeGround(server, "CREATE TABLE picks (id uuid PRIMARY KEY, at timestamptz)");
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("pick", "INSERT INTO picks VALUES (gen_random_uuid(), clock_timestamp())");
    const query = "SELECT p::text AS row FROM picks p";
    const [seen] = rowsOf(await sandbox.read(query)) as { row: string }[];
    expect(rowsOf(await sandbox.read(query))).toEqual([seen]);
    await sandbox.commit();
    expect(ground.sql(query)).toEqual([seen?.row]);
  });
});
