import { describe, expect, it } from "vitest";
import { DatabaseError } from "../../../../src/index.ts";
import { SHOP, makeGround, rowsOf } from "../fixture.ts";
import { expectCheckpoints } from "../checkpoints.ts";
import { expectForks } from "../forks.ts";
import { MARIADB, runServer } from "../servers.ts";

const on = runServer(MARIADB);

const SETUP = `CREATE TABLE items (id int AUTO_INCREMENT PRIMARY KEY, name varchar(40)); INSERT INTO items (name) VALUES ('one');
  CREATE TABLE loose (id int PRIMARY KEY) ENGINE = MyISAM; CREATE TABLE quick (id int PRIMARY KEY) ENGINE = MEMORY;
  CREATE TABLE shapes (id int PRIMARY KEY, form geometry); CREATE TABLE asian (id int PRIMARY KEY, text varchar(9) CHARACTER SET gbk);
  CREATE TABLE past (id int PRIMARY KEY) WITH SYSTEM VERSIONING;
  CREATE TABLE linked (id int PRIMARY KEY);
  CREATE TABLE split (n int) PARTITION BY RANGE (n) (PARTITION a VALUES LESS THAN (10), PARTITION b VALUES LESS THAN MAXVALUE);
  INSERT INTO split VALUES (1);
  DELIMITER //
  CREATE TRIGGER link AFTER INSERT ON linked FOR EACH ROW INSERT INTO loose VALUES (NEW.id) //
  DELIMITER ;`;

describe("statements that a sandbox of MariaDB cannot take", () => {
  it.each([
    ["COMMIT", "endsTransaction"],
    ["/* hidden */ RoLlBaCk", "endsTransaction"],
    ["BEGIN", "endsTransaction"],
    ["START TRANSACTION", "endsTransaction"],
    ["SAVEPOINT mine", "endsTransaction"],
    ["XA END 'mine'", "endsTransaction"],
    ["CREATE TABLE more (a int)", "endsTransaction"],
    ["CREATE TRIGGER t BEFORE INSERT ON items FOR EACH ROW SET @a = 1", "endsTransaction"],
    ["DROP TABLE items", "endsTransaction"],
    ["ALTER TABLE items ADD COLUMN more int", "endsTransaction"],
    ["TRUNCATE TABLE items", "endsTransaction"],
    ["GRANT SELECT ON items TO somebody", "endsTransaction"],
    ["LOCK TABLES items WRITE", "endsTransaction"],
    ["ANALYZE TABLE items", "endsTransaction"],
    ["CREATE TEMPORARY TABLE t (a int)", "session"],
    ["SET autocommit = 1", "session"],
    ["PREPARE p FROM 'COMMIT'", "session"],
    ["EXECUTE IMMEDIATE 'COMMIT'", "session"],
    ["SELECT * FROM items INTO OUTFILE 'somewhere'", "sideEffect"],
    ["SELECT GET_LOCK('mine', 1)", "sideEffect"],
    ["CALL mine()", "notCaptured"],
    ["LOAD DATA INFILE 'somewhere' INTO TABLE items", "notCaptured"],
    ["/*!50000 COMMIT */", "notCaptured"],
    ["/*M! DROP TABLE items */", "notCaptured"],
    ["INSERT DELAYED INTO items (name) VALUES ('late')", "notCaptured"],
    ["INSERT INTO loose VALUES (1)", "notCaptured"],
    ["UPDATE items, quick SET quick.id = 1", "notCaptured"],
    ["INSERT INTO linked VALUES (1)", "notCaptured"],
    ["INSERT INTO shapes VALUES (1, NULL)", "notCaptured"],
    ["INSERT INTO asian VALUES (1, 'x')", "notCaptured"],
    ["INSERT INTO past VALUES (1)", "notCaptured"],
    ["DELETE FROM mysql.db", "notCaptured"],
    ["DELETE items FROM items JOIN mysql.db", "notCaptured"],
    ["INSERT INTO nowhere VALUES (1)", "failed"],
    ["UPDATE items SET nothing = 1", "failed"],
    ["INSERT INTO items (id) VALUES (1)", "failed"],
    ["UPDATE items SET name = 'x' WHERE id = 1 AND", "failed"],
  ])(
    "such as %s are refused, and nothing of the script is kept (R98)",
    async (statement, reason) => {
      const ground = makeGround(on.server, SETUP);
      await using cofferdam = await ground.open();
      const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
      const writing = sandbox.write(
        "script",
        `INSERT INTO items (name) VALUES ('; two\\'s'); ${statement}`,
      );
      await expect(writing).rejects.toBeInstanceOf(DatabaseError);
      await expect(writing).rejects.toMatchObject({
        code: "DATABASE",
        data: { reason, position: 2 },
      });
      expect((await sandbox.diff()).isEmpty).toBe(true);
      expect(ground.sql("SELECT name FROM items; SELECT * FROM loose")).toEqual(["one"]);
      expect(ground.prepared()).toEqual([]);
    },
  );

  it("are told when the script could not be repeated", async () => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await expect(sandbox.write("move", "UPDATE split SET n = 50")).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "notCaptured" },
    });
    expect((await sandbox.diff()).isEmpty).toBe(true);
  });

  it("are told when a row is too large to be sent as a commit sends it", async () => {
    const ground = makeGround(
      on.server,
      "CREATE TABLE photos (id int PRIMARY KEY, bytes longtext)",
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    const [variable = ""] = ground.sql("SELECT @@max_allowed_packet");
    const large = "x".repeat(0.6 * Number(variable));
    await expect(
      sandbox.write("w", `INSERT INTO photos VALUES (1, '${large}')`),
    ).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "failed" },
      message: expect.stringContaining("max_allowed_packet") as string,
    });
    const long = `INSERT INTO photos VALUES ${Array.from({ length: 9 }, (_, at) => `(${at}, '${large.slice(9 * (large.length / 10))}')`).join(", ")}`;
    await sandbox.write("rows of which each is small enough", long);
    expect((await sandbox.diff()).changes).toHaveLength(9);
  });

  const NOTED =
    "CREATE TABLE noted (id int); CREATE TRIGGER t AFTER DELETE ON photos FOR EACH ROW INSERT INTO noted VALUES (OLD.id);";
  it.each([
    ["DELETE FROM photos", ""],
    ["UPDATE photos SET bytes = 'short'", ""],
    ["DELETE FROM photos", NOTED],
  ])("are told when an undo could not send the row: %s (%s)", async (statement, more) => {
    const ground = makeGround(
      on.server,
      `CREATE TABLE photos (id int PRIMARY KEY, bytes longtext);
         INSERT INTO photos VALUES (1, REPEAT('x', 0.6 * @@max_allowed_packet)), (2, REPEAT('x', 0.4 * @@max_allowed_packet)); ${more}`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await expect(sandbox.write("w", `${statement} WHERE id = 1`)).rejects.toMatchObject({
      code: "DATABASE",
      message: expect.stringContaining("max_allowed_packet") as string,
    });
    await sandbox.write("w", `${statement} WHERE id = 2`);
    await sandbox.commit();
    await sandbox.undoCommit();
    expect(ground.sql("SELECT id FROM photos WHERE length(bytes) > 9 ORDER BY id")).toEqual([
      "1",
      "2",
    ]);
  });

  it("include every change that a read would make", async () => {
    const ground = makeGround(
      on.server,
      `${SETUP}
       DELIMITER //
       CREATE FUNCTION spoil() RETURNS int BEGIN DELETE FROM items; RETURN 1; END //`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    for (const query of ["SELECT spoil()", "SELECT 1; DELETE FROM items"])
      await expect(sandbox.read(query)).rejects.toMatchObject({
        code: "DATABASE",
        data: { reason: "failed" },
      });
    await expect(sandbox.read("SELECT 1 INTO DUMPFILE 'x'")).rejects.toMatchObject({
      data: { reason: "sideEffect" },
    });
    const read = await sandbox.read(
      "SELECT 'a//b' AS path, COUNT(*) AS n, 0.10 AS d, x'00' AS b, NULL AS u, b'101' + 0 AS f FROM items",
    );
    expect(Buffer.from(read).toString("utf8")).toBe(
      '[{"path":"a//b","n":1,"d":0.10,"b":"0x00","u":null,"f":5}]\n',
    );
  });
});

describe("checkpoints of MariaDB", () => {
  it("can be restored again and again, in any order (R95)", async () => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    const names = "SELECT GROUP_CONCAT(name ORDER BY name) AS names FROM items";
    await expectCheckpoints(sandbox, {
      names,
      change: "UPDATE items SET name = CONCAT(name, '!')",
      query: names,
      answer: [{ names: "a!,b!" }],
    });
    expect(ground.sql("SELECT name FROM items ORDER BY name")).toEqual(["a", "one"]);
  });
});

it("a plan with a database of MariaDB is forked, and rows of both are conflicts of whichever commits second", async () => {
  const ground = makeGround(on.server, SETUP);
  await using cofferdam = await ground.open();
  await cofferdam.create("plan", SHOP);
  await expectForks(await cofferdam.plan("plan"), {
    open: ground.open,
    resourceId: SHOP.resourceId,
    names: "SELECT GROUP_CONCAT(name ORDER BY name) AS names FROM items",
    real: () => ground.sql("SELECT name FROM items ORDER BY name"),
  });
});

it("questions that are no query are answered, and change nothing (R96)", async () => {
  const ground = makeGround(on.server, SETUP);
  await using cofferdam = await ground.open();
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  expect(rowsOf(await sandbox.read("SHOW TABLES LIKE 'items'"))).toHaveLength(1);
  expect(rowsOf(await sandbox.read("DESCRIBE items"))).toMatchObject([
    { Field: "id" },
    { Field: "name" },
  ]);
  expect(rowsOf(await sandbox.read("EXPLAIN DELETE FROM items"))).toHaveLength(1);
  expect(ground.sql("SELECT name FROM items")).toEqual(["one"]);
});
