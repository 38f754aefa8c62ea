import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresServer } from "../../../support/postgres-server.ts";
import { SHOP, makeGround, rowsOf } from "../fixture.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const PARENT = "CREATE TABLE parent (id int PRIMARY KEY); INSERT INTO parent VALUES (1), (5)";
const CHILD =
  "CREATE TABLE child (id int PRIMARY KEY, p int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)";

describe("a table with deferred keys that an earlier script made", () => {
  it.each([
    ["as it is", `${CHILD}; INSERT INTO child VALUES (1, 1)`],
    ["with rows that violate its key", `${CHILD}; INSERT INTO child VALUES (1, 9)`],
    [
      "under another name",
      `${CHILD.replace("child", "first")}; ALTER TABLE first RENAME TO child; INSERT INTO child VALUES (1, 1)`,
    ],
    [
      "in place of another one",
      `${CHILD}; DROP TABLE child; ${CHILD}; INSERT INTO child VALUES (1, 1)`,
    ],
    [
      "in a schema of its own",
      `CREATE SCHEMA "My app"; ${CHILD.replace("child", '"My app".child')}; ${CHILD}; INSERT INTO "My app".child VALUES (1, 1); INSERT INTO child VALUES (1, 1)`,
    ],
  ])("%s takes rows in later ones, and is committed", async (_, script) => {
    const ground = makeGround(server, PARENT);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("first", script);
    await sandbox.write("second", "INSERT INTO child VALUES (2, 1)");
    await sandbox.write("third", "UPDATE child SET p = 5; DELETE FROM child WHERE id = 1");
    const seen = await sandbox.read("SELECT * FROM child");
    expect(rowsOf(seen)).toEqual([{ id: 2, p: 5 }]);
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM child")).toEqual(["2|5"]);
    expect(ground.sql("SELECT tgname FROM pg_trigger WHERE NOT tgisinternal")).toEqual([]);
  });

  it.each([
    "INSERT INTO one VALUES (1, 1); INSERT INTO two VALUES (1, 1)",
    "WITH made AS (INSERT INTO one VALUES (1, 1) RETURNING id) INSERT INTO two SELECT id, id FROM made",
  ])("and with a trigger may refer to one that comes later in the script: %s", async (script) => {
    const ground = makeGround(
      server,
      `CREATE TABLE one (id int PRIMARY KEY, two int); CREATE TABLE two (id int PRIMARY KEY, one int REFERENCES one);
       ALTER TABLE one ADD FOREIGN KEY (two) REFERENCES two DEFERRABLE INITIALLY DEFERRED;
       CREATE TABLE noted (id int); CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
         $$BEGIN INSERT INTO noted VALUES (NEW.id); RETURN NULL; END$$;
       CREATE TRIGGER n AFTER INSERT ON one FOR EACH ROW EXECUTE FUNCTION note()`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("w", script);
    await expect(sandbox.write("x", "INSERT INTO one VALUES (2, 9)")).rejects.toMatchObject({
      code: "DATABASE",
    });
    await sandbox.commit();
    const all = "SELECT * FROM one; SELECT * FROM two; SELECT * FROM noted";
    expect(ground.sql(all)).toEqual(["1|1", "1|1", "1"]);
    await sandbox.undoCommit();
    expect(ground.sql(all)).toEqual([]);
  });

  it("can go back to the rows of each script, and its rows are undone once it is there", async () => {
    const ground = makeGround(server, PARENT);
    await using cofferdam = await ground.open();
    const made = cofferdam.sandbox(await cofferdam.create("made", SHOP));
    await made.write("first", `${CHILD}; INSERT INTO child VALUES (1, 1)`);
    await made.checkpoint("one-row");
    await made.write("second", "INSERT INTO child VALUES (2, 1)");
    await made.restoreCheckpoint("one-row");
    await made.write("again", "INSERT INTO child VALUES (3, 5)");
    await made.commit();
    const filled = cofferdam.sandbox(await cofferdam.create("filled", SHOP));
    await filled.write("one", "INSERT INTO child VALUES (4, 1)");
    await filled.write("two", "UPDATE child SET p = 5");
    await filled.commit();
    expect(ground.sql("SELECT * FROM child ORDER BY 1")).toEqual(["1|5", "3|5", "4|5"]);
    await filled.undoCommit();
    expect(ground.sql("SELECT * FROM child ORDER BY 1")).toEqual(["1|1", "3|5"]);
  });

  it("is left as it was when its rows cannot be watched, and the script is refused", async () => {
    const ground = makeGround(server, PARENT);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write(
      "first",
      `${CHILD.replace("child", "first")}; INSERT INTO first VALUES (1, 9)`,
    );
    await sandbox.write("name", "ALTER TABLE first RENAME TO child");
    await expect(sandbox.write("second", "INSERT INTO child VALUES (2, 9)")).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "notCaptured" },
    });
    await sandbox.write("parent", "INSERT INTO parent VALUES (9)");
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM child")).toEqual(["1|9"]);
  });
});

describe("a change of the schema after rows with deferred keys", () => {
  const ADD = "ALTER TABLE child ADD COLUMN note text";
  const ADDED = ["1|1|", "2|1|new"];
  it.each([
    ["rows that refer to others", "INSERT INTO child VALUES (1, 1)", ADD, ADDED],
    [
      "a row that others might refer to",
      "INSERT INTO child VALUES (1, 1); DELETE FROM parent WHERE id = 5",
      `ALTER TABLE parent ADD COLUMN note text; ${ADD}`,
      ADDED,
    ],
    [
      "rows that a trigger wrote",
      `CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO child VALUES (1, NEW.id); RETURN NULL; END $$;
       CREATE TRIGGER own AFTER UPDATE ON parent FOR EACH ROW EXECUTE FUNCTION f(); UPDATE parent SET id = id WHERE id = 1`,
      ADD,
      ADDED,
    ],
    [
      "rows of which others are violated",
      "INSERT INTO child VALUES (1, 1); INSERT INTO other VALUES (1, 9)",
      ADD,
      ADDED,
    ],
    [
      "rows of a partition",
      "INSERT INTO child VALUES (1, 1); INSERT INTO parts VALUES (1, 1)",
      `ALTER TABLE parts ADD COLUMN note text; ${ADD}`,
      ADDED,
    ],
    [
      "rows whose order waits",
      "INSERT INTO ranks VALUES (1, 2), (2, 1); UPDATE ranks SET place = 3 - place; INSERT INTO child VALUES (1, 1)",
      `ALTER TABLE ranks ADD COLUMN note text; ${ADD}`,
      ADDED,
    ],
    [
      "rows of a table that goes",
      "INSERT INTO child VALUES (1, 1)",
      "DROP TABLE child; CREATE TABLE child (id int, p int, note text); INSERT INTO child VALUES (1, 1)",
      ADDED,
    ],
  ])("is taken and committed: %s", async (_, rows, change, expected) => {
    const ground = makeGround(
      server,
      `${PARENT}; ${CHILD}; ${CHILD.replace("child", "other")};
       CREATE TABLE ranks (id int PRIMARY KEY, place int UNIQUE DEFERRABLE INITIALLY DEFERRED);
       CREATE TABLE parts (id int, p int REFERENCES parent DEFERRABLE INITIALLY DEFERRED) PARTITION BY LIST (id);
       CREATE TABLE parts_1 PARTITION OF parts FOR VALUES IN (1)`,
    );
    await using cofferdam = await ground.open();
    const [both, each] = [
      cofferdam.sandbox(await cofferdam.create("both", SHOP)),
      cofferdam.sandbox(await cofferdam.create("each", SHOP)),
    ];
    await both.write("both", `${rows}; ${change}; INSERT INTO child VALUES (2, 1, 'new')`);
    await each.write("rows", rows);
    await each.write("schema", change);
    await each.write("more", "INSERT INTO child VALUES (2, 1, 'new'); DELETE FROM other");
    const seen = rowsOf(await each.read("SELECT * FROM child ORDER BY id"));
    expect(rowsOf(await both.read("SELECT * FROM child ORDER BY id"))).toEqual(seen);
    await each.commit();
    expect(ground.sql("SELECT * FROM child ORDER BY 1")).toEqual(expected);
  });

  it("is refused where the keys are violated, until they are not", async () => {
    const ground = makeGround(server, `${PARENT}; ${CHILD}`);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("rows", "INSERT INTO child VALUES (1, 9)");
    await expect(sandbox.write("schema", ADD)).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "failed", position: 1, sqlState: "55006" },
    });
    await sandbox.write("beside", "CREATE TABLE later (id int)");
    await sandbox.write("both", `INSERT INTO parent VALUES (9); ${ADD}`);
    await sandbox.write("ring", "INSERT INTO child VALUES (2, 8, 'a')");
    await sandbox.write("rest", "INSERT INTO parent VALUES (8)");
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM child ORDER BY 1")).toEqual(["1|9|", "2|8|a"]);
  });

  it("does not let triggers run that wait for the end of the script", async () => {
    const ground = makeGround(
      server,
      `${PARENT}; ${CHILD}; CREATE TABLE seen (n bigint);
       CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO seen SELECT count(*) FROM parent; RETURN NULL; END $$;
       CREATE CONSTRAINT TRIGGER at_end AFTER INSERT ON parent DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION see()`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write(
      "script",
      `INSERT INTO parent VALUES (7); INSERT INTO child VALUES (1, 7); ${ADD}; INSERT INTO parent VALUES (8)`,
    );
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM seen")).toEqual(["4", "4"]);
    expect(ground.sql("SELECT * FROM child")).toEqual(["1|7|"]);
  });
});
