import { describe, expect, it } from "vitest";
import { type Ground, SHOP, makeGround, rowsOf } from "../fixture.ts";
import { MARIADB, runServer } from "../servers.ts";

const on = runServer(MARIADB);

const SCHEMA = `
  CREATE TABLE people (id int AUTO_INCREMENT PRIMARY KEY, name varchar(40), boss int, FOREIGN KEY (boss) REFERENCES people (id));
  CREATE TABLE audit (at int AUTO_INCREMENT PRIMARY KEY, what varchar(80), chance double DEFAULT rand());
  CREATE TABLE counts (what varchar(20) PRIMARY KEY, n int);
  CREATE TABLE clocks (id int PRIMARY KEY, name varchar(40), at datetime);
  CREATE TABLE marks (id int PRIMARY KEY, owner bigint);
  CREATE TABLE chains (id int PRIMARY KEY);
  INSERT INTO people (name) VALUES ('Ada'), ('Ben');
  INSERT INTO counts VALUES ('people', 2), ('other', 0);
  INSERT INTO clocks VALUES (1, 'tick', '2001-01-01'); INSERT INTO marks VALUES (1, 0);
  DELIMITER //
  CREATE TRIGGER tidy BEFORE INSERT ON people FOR EACH ROW SET NEW.name = TRIM(NEW.name) //
  CREATE TRIGGER come AFTER INSERT ON people FOR EACH ROW BEGIN
    INSERT INTO audit (what) VALUES (CONCAT('come ', NEW.name)); UPDATE counts SET n = n + 1 WHERE what = 'people'; END //
  CREATE TRIGGER gone AFTER DELETE ON people FOR EACH ROW BEGIN
    INSERT INTO audit (what) VALUES (CONCAT('gone ', OLD.name)); UPDATE counts SET n = n - 1 WHERE what = 'people'; END //
  CREATE TRIGGER clock BEFORE UPDATE ON clocks FOR EACH ROW SET NEW.at = NOW() //
  CREATE TRIGGER mark BEFORE UPDATE ON marks FOR EACH ROW SET NEW.owner = CONNECTION_ID() //
  CREATE TRIGGER chain AFTER INSERT ON chains FOR EACH ROW INSERT INTO people (name) VALUES ('chained') //
  CREATE FUNCTION spend() RETURNS int BEGIN UPDATE counts SET n = n + 1 WHERE what = 'other'; RETURN 7; END //
  DELIMITER ;`;

function everything(ground: Ground): string[] {
  return ["people ORDER BY id", "audit ORDER BY at", "counts ORDER BY what"].flatMap((table) =>
    ground.sql(`SELECT * FROM ${table}`),
  );
}

describe("triggers of MariaDB", () => {
  it("do not run a second time at the commit or its undo: their rows are those that were seen", async () => {
    const ground = makeGround(on.server, SCHEMA);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    const before = everything(ground);
    await sandbox.write("one", "INSERT INTO people (name) VALUES ('  Cyd '), ('Dan')");
    await sandbox.write(
      "two",
      "DELETE FROM people WHERE name = 'Ben'; UPDATE counts SET n = 5 WHERE what = 'other'",
    );
    await sandbox.write("three", "INSERT INTO audit (what) VALUES ('by hand')");
    const seen = [];
    for (const query of ["people ORDER BY id", "audit ORDER BY at", "counts ORDER BY what"])
      seen.push(rowsOf(await sandbox.read(`SELECT * FROM ${query}`)));
    expect(seen[1]).toMatchObject([
      { what: "come Cyd" },
      { what: "come Dan" },
      { what: "gone Ben" },
      { what: "by hand" },
    ]);
    expect(seen[2]).toEqual([
      { what: "other", n: 5 },
      { what: "people", n: 3 },
    ]);
    await sandbox.commit();
    const look = cofferdam.sandbox(await cofferdam.create("look", SHOP));
    for (const [at, query] of [
      "people ORDER BY id",
      "audit ORDER BY at",
      "counts ORDER BY what",
    ].entries())
      expect(rowsOf(await look.read(`SELECT * FROM ${query}`))).toEqual(seen[at]);
    await sandbox.undoCommit();
    expect(everything(ground)).toEqual(before);
  });

  it("keep their hands off rows that somebody else added meanwhile", async () => {
    const ground = makeGround(on.server, SCHEMA);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("one", "INSERT INTO people (id, name) VALUES (70, 'Cyd')");
    ground.sql("INSERT INTO audit (at, what, chance) VALUES (900, 'foreign', 0)");
    await sandbox.commit();
    expect(ground.sql("SELECT what FROM audit ORDER BY at")).toEqual(["come Cyd", "foreign"]);
    expect(ground.sql("SELECT n FROM counts WHERE what = 'people'")).toEqual(["3"]);
  });

  it("do not hide what somebody else changed, also where rows have no key", async () => {
    const ground = makeGround(
      on.server,
      `CREATE TABLE words (word varchar(9)); CREATE TABLE log (n int AUTO_INCREMENT PRIMARY KEY, what varchar(9));
       CREATE TRIGGER noted AFTER DELETE ON words FOR EACH ROW INSERT INTO log (what) VALUES (OLD.word);
       INSERT INTO words VALUES ('one'), ('one'), ('two'); INSERT INTO log (what) VALUES ('old')`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("one", "DELETE FROM words WHERE word = 'two'; UPDATE log SET what = 'new'");
    const everyRow = "SELECT * FROM words; SELECT what FROM log";
    const [gone, back] = [
      "DELETE FROM words WHERE word = 'two'",
      "INSERT INTO words VALUES ('two')",
    ];
    const [edited, mended] = ["x", "old"].map(
      (what) => `UPDATE log SET what = '${what}' WHERE n = 1`,
    );
    for (const [foreign = "", path, reason, mend = ""] of [
      [gone, /words\/@\w+$/, "missing", back],
      [edited, /log\/1$/, "changed", mended],
    ] as const) {
      ground.sql(foreign);
      const before = ground.sql(everyRow);
      await expect(sandbox.commit()).rejects.toMatchObject({
        code: "SANDBOX_CONFLICT",
        data: { conflicts: [{ path: expect.stringMatching(path) as string, reason }] },
      });
      expect(ground.sql(everyRow)).toEqual(before);
      ground.sql(`${mend}; DELETE FROM log WHERE n > 1`);
    }
    await sandbox.commit();
    expect(ground.sql(everyRow)).toEqual(["one", "one", "new", "new"]);
  });

  it.each([
    [
      "ANSI_QUOTES",
      `CREATE TRIGGER noted AFTER INSERT ON t FOR EACH ROW INSERT INTO "audit" VALUES (NEW.id, 'a "b')`,
      'a "b',
    ],
    [
      "ANSI_QUOTES",
      `CREATE FUNCTION note(id int) RETURNS int BEGIN INSERT INTO "audit" VALUES (id, 'a "b'); RETURN id; END//
       CREATE TRIGGER noted AFTER INSERT ON t FOR EACH ROW SET @done = note(NEW.id)`,
      'a "b',
    ],
    [
      "NO_BACKSLASH_ESCAPES",
      String.raw`CREATE TRIGGER noted AFTER INSERT ON t FOR EACH ROW
         BEGIN SET @path = CONCAT('C:\', NEW.id); INSERT INTO audit VALUES (NEW.id, CONCAT(@path, '')); END`,
      String.raw`C:\1`,
    ],
  ])("are read in the mode in which they were made, %s: %s", async (mode, made, what) => {
    const ground = makeGround(
      on.server,
      `CREATE TABLE t (id int PRIMARY KEY); CREATE TABLE audit (id int PRIMARY KEY, what varchar(9));
       SET sql_mode = '${mode}';
DELIMITER //
${made}//`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("w", "INSERT INTO t VALUES (1)");
    expect((await sandbox.diff()).changes.map(({ path }) => path)).toEqual([
      `${ground.schema}.audit/1`,
      `${ground.schema}.t/1`,
    ]);
    await sandbox.commit();
    const audited = ground.sql("SELECT id, HEX(what) FROM audit");
    expect(audited).toEqual([`1|${Buffer.from(what).toString("hex").toUpperCase()}`]);
    await sandbox.undoCommit();
    expect(ground.sql("SELECT * FROM audit")).toEqual([]);
  });

  it("count in functions that a statement calls", async () => {
    const ground = makeGround(on.server, SCHEMA);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("one", "INSERT INTO audit (what) SELECT spend()");
    const paths = (await sandbox.diff()).changes.map(({ path }) => path);
    expect(paths).toEqual([`${ground.schema}.audit/1`, `${ground.schema}.counts/other`]);
    await expect(sandbox.read("SELECT spend() AS n")).rejects.toMatchObject({
      data: { reason: "failed" },
    });
    await sandbox.commit();
    expect(
      ground.sql("SELECT n, (SELECT what FROM audit) FROM counts WHERE what = 'other'"),
    ).toEqual(["1|7"]);
  });

  it.each([
    ["go by the clock", "UPDATE clocks SET name = 'tock'"],
    ["go by the connection", "UPDATE marks SET id = 2"],
    ["set off others", "INSERT INTO chains VALUES (1)"],
  ])("that %s are refused when the statement is written", async (_why, statement) => {
    const ground = makeGround(on.server, SCHEMA);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await expect(sandbox.write("one", statement)).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "notCaptured", position: 1 },
    });
    expect((await sandbox.diff()).isEmpty).toBe(true);
  });
});
