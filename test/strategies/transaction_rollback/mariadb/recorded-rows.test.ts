import { describe, expect, it } from "vitest";
import type { Cofferdam } from "../../../../src/index.ts";
import { MARIADB, runServer } from "../servers.ts";
import { type Ground, SHOP, makeGround, rowsOf } from "../fixture.ts";

const on = runServer(MARIADB);

const SCHEMA = `
  CREATE TABLE authors (
    id bigint AUTO_INCREMENT PRIMARY KEY, name varchar(40) NOT NULL UNIQUE, feels enum('good', 'bad') DEFAULT 'good',
    tags set('a', 'b c'), settings json, born timestamp(3) NULL, photo blob, weight double, share float,
    price decimal(30, 10), flags bit(9), nick varchar(20) CHARACTER SET latin1, day date, span time(2), year year,
    number int(8) ZEROFILL, place inet6, token uuid,
    touched timestamp DEFAULT '2001-01-01 00:00:00' ON UPDATE CURRENT_TIMESTAMP);
  CREATE TABLE books (
    author bigint, number int, title varchar(60), shout varchar(60) AS (upper(title)) STORED,
    whisper varchar(60) AS (lower(title)) VIRTUAL, PRIMARY KEY (author, number),
    FOREIGN KEY (author) REFERENCES authors (id) ON DELETE CASCADE ON UPDATE CASCADE);
  CREATE TABLE covers (
    id varbinary(4) PRIMARY KEY, author bigint, number int,
    FOREIGN KEY (author, number) REFERENCES books (author, number) ON DELETE SET NULL ON UPDATE CASCADE);
  CREATE TABLE notes (line text, amount int);
  CREATE TABLE days (day date, what varchar(20), PRIMARY KEY (day, what))
    PARTITION BY RANGE COLUMNS (day) (PARTITION old VALUES LESS THAN ('2020-01-01'), PARTITION young VALUES LESS THAN MAXVALUE);
  INSERT INTO authors (id, name, tags, settings, born, photo, weight, share, price, flags, nick, day, span, year, number, place, token) VALUES
    (1, 'Ada', 'a,b c', '{"b" : 1,  "a": 2}', '2001-02-03 04:05:06.789', x'00ff27', 0.1, 0.1, 12345678901234567890.0123456789,
      b'100000001', 'é€', '2000-02-29', '-100:00:00.25', 2024, 42, '::1', '123e4567-e89b-12d3-a456-426655440000'),
    (2, 'Ben 🦫', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
  INSERT INTO books (author, number, title) VALUES (1, 1, 'One'), (1, 2, 'Two'), (2, 1, 'Three');
  INSERT INTO covers VALUES (x'00', 1, 1), (x'ff', 2, 1);
  INSERT INTO days VALUES ('2010-01-01', 'x');
  INSERT INTO notes VALUES ('same', 1), ('same', 1), ('Same', 1), ('other', NULL);`;

const SCRIPT = `
  INSERT INTO authors (name, tags, photo, born) VALUES ('Cyd;--', 'a', x'5c27', NOW(3)); # a comment; with a semicolon
  UPDATE authors SET name = 'Ada L.', weight = weight + 0.2, share = 0.7 WHERE name = 'Ada';
  /* another; */ INSERT INTO books (author, number, title) SELECT id, 1, '  First\\'s  ' FROM authors WHERE name LIKE 'Cyd%';
  UPDATE books SET number = number + 10 WHERE author = 1;
  -- the next one sets a cover free, and takes a book along
  DELETE FROM authors WHERE id = 2;
  INSERT INTO authors (name, weight) VALUES ('Dan', 1), ('Ada L.', 5) ON DUPLICATE KEY UPDATE weight = VALUES(weight) + 1e100;
  REPLACE INTO authors (id, name, flags) VALUES (50, 'Dan', b'11'), (51, 'Eve', NULL);
  UPDATE authors SET id = id + 100 WHERE id = 1;
  UPDATE days SET what = 'y', day = '2030-05-05' WHERE what = 'x';
  INSERT INTO days VALUES (CURDATE(), UUID_SHORT());
  DELETE FROM notes WHERE line = 'same' LIMIT 1;
  UPDATE notes SET line = 'changed; \`\`', amount = 7 WHERE amount IS NULL;
  INSERT INTO notes VALUES ("in ""double"" quotes", RAND() * 1000000);
  UPDATE authors a JOIN books b ON b.author = a.id SET a.year = 1999, b.title = CONCAT(b.title, '!') WHERE b.number > 10`;

const TABLES = {
  authors: "id",
  books: "author, number",
  covers: "id",
  days: "day, what",
  notes: "line COLLATE utf8mb4_bin, amount",
};

function everything(ground: Ground): string[] {
  const queries = Object.entries(TABLES).map(
    ([table, order]) => `SELECT t.* FROM ${table} t ORDER BY ${order}`,
  );
  return queries.flatMap((query) => ground.sql(query));
}

/** Not parsed: every digit counts. */
async function textOf(
  sandbox: ReturnType<Cofferdam["sandbox"]>,
  table: string,
  order: string,
): Promise<string> {
  const bytes = await sandbox.read(`SELECT * FROM ${table} ORDER BY ${order}`);
  return Buffer.from(bytes).toString("utf8");
}

describe("what is recorded in MariaDB", () => {
  it("is exactly what a commit publishes, with cascades, generated columns and every type (R96)", async () => {
    const ground = makeGround(on.server, SCHEMA);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    const before = everything(ground);
    await sandbox.write("script.sql", SCRIPT);
    expect(everything(ground)).toEqual(before);
    const seen: string[] = [];
    for (const [table, order] of Object.entries(TABLES))
      seen.push(await textOf(sandbox, table, order));
    const told = (await sandbox.diff()).changes.map(({ kind, path }) => `${kind} ${path}`);
    const of = (path: string): string => `${ground.schema}.${path}`;
    expect(told).toEqual(
      expect.arrayContaining([
        `deleted ${of("authors/1")}`,
        `added ${of("authors/101")}`,
        `deleted ${of("authors/2")}`,
        `added ${of("authors/50")}`,
        `added ${of("books/101,11")}`,
        `deleted ${of("books/2,1")}`,
        `modified ${of("covers/00")}`,
        `modified ${of("covers/ff")}`,
        `deleted ${of("days/2010-01-01,x")}`,
      ]),
    );
    await sandbox.commit();
    const committed = everything(ground);
    const other = cofferdam.sandbox(await cofferdam.create("other", SHOP));
    for (const [at, [table, order]] of Object.entries(TABLES).entries())
      expect(await textOf(other, table, order)).toBe(seen[at]);
    expect(
      ground.sql("SELECT shout, whisper FROM books WHERE author = 101 ORDER BY number"),
    ).toEqual(["ONE!|one!", "TWO!|two!"]);
    await sandbox.undoCommit();
    expect(everything(ground)).toEqual(before);
    await sandbox.commit();
    expect(everything(ground)).toEqual(committed);
  });

  it("has rows by their key, before and after, as one column a line (R96)", async () => {
    const ground = makeGround(on.server, SCHEMA);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("one", "UPDATE authors SET feels = 'bad', photo = x'01' WHERE id = 2");
    const view = await sandbox.diff();
    const path = `${ground.schema}.authors/2`;
    const text = await view.text();
    expect(text).toContain('- "feels":"good",\n+ "feels":"bad",');
    expect(text).toContain('+ "photo":"0x01",');
    const row = Buffer.from(await sandbox.read(path)).toString("utf8");
    const [change] = view.changes.filter((one) => one.path === path);
    expect(change?.after?.size).toBe(Buffer.byteLength(row));
    expect(rowsOf(Buffer.from(row))).toMatchObject({ id: 2, feels: "bad", photo: "0x01" });
    const author = await sandbox.read(`${ground.schema}.authors/1`);
    expect(Buffer.from(author).toString("utf8")).toContain(
      '"price":12345678901234567890.0123456789,',
    );
    expect(rowsOf(await sandbox.read(`${ground.schema}.covers/ff`))).toEqual({
      id: "0xff",
      author: 2,
      number: 1,
    });
    for (const wrong of ["authors/77", "authors/x", "notes/1", "nowhere/1"])
      await expect(sandbox.read(`${ground.schema}.${wrong}`)).rejects.toMatchObject({
        code: "SANDBOX_PATH",
        data: { reason: "missing" },
      });
  });

  it("tells rows apart whatever their names and keys are", async () => {
    const table = '`my "table``; --`';
    const setup = `CREATE TABLE ${table} (\`the key\` varchar(20), temp int, \`x'y\` text, PRIMARY KEY (temp, \`the key\`))`;
    const ground = makeGround(on.server, setup);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("a", `INSERT INTO ${table} VALUES ('a/b,c', 1, 'it''s'), ('50%', 2, NULL)`);
    await sandbox.write("b", `UPDATE ${table} SET temp = 3, \`x'y\` = '"' WHERE temp = 2`);
    const paths = (await sandbox.diff()).changes.map(({ path }) => path);
    expect(paths).toEqual([
      `${ground.schema}.my%20%22table%60%3B%20--/1,a%2Fb%2Cc`,
      `${ground.schema}.my%20%22table%60%3B%20--/3,50%25`,
    ]);
    expect(rowsOf(await sandbox.read(paths[0] ?? ""))).toEqual({
      "the key": "a/b,c",
      temp: 1,
      "x'y": "it's",
    });
    await sandbox.commit();
    expect(ground.sql(`SELECT * FROM ${table} ORDER BY temp`)).toEqual(["a/b,c|1|it's", '50%|3|"']);
    await sandbox.rollback();
    expect(ground.sql(`SELECT * FROM ${table}`)).toEqual([]);
  });

  it("keeps numbers that were handed out, zero among them, and dates that are none", async () => {
    const ground = makeGround(
      on.server,
      `SET sql_mode = 'NO_AUTO_VALUE_ON_ZERO,ALLOW_INVALID_DATES'; CREATE TABLE people (id int AUTO_INCREMENT PRIMARY KEY, born date, at datetime);
       INSERT INTO people VALUES (0, '0000-00-00', '2001-02-31 10:00:00')`,
    );
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    await cofferdam
      .sandbox(ref)
      .write("a", "INSERT INTO people (born) VALUES ('2001-01-01'), (NULL)");
    await using other = await ground.open();
    await other.sandbox(ref).write("b", "INSERT INTO people () VALUES ()");
    await other.sandbox(ref).write("c", "DELETE FROM people WHERE id = 0");
    const seen = rowsOf(await other.sandbox(ref).read("SELECT id FROM people ORDER BY id")) as {
      id: number;
    }[];
    await other.sandbox(ref).commit();
    expect(ground.sql("SELECT id FROM people ORDER BY id")).toEqual(
      seen.map(({ id }) => String(id)),
    );
    ground.sql("INSERT INTO people () VALUES ()");
    const ids = ground.sql("SELECT id FROM people ORDER BY id").map(Number);
    expect(ids.at(-1)).toBeGreaterThan(ids.at(-2) ?? 0);
    await other.sandbox(ref).undoCommit();
    expect(ground.sql("SELECT * FROM people WHERE id = 0")).toEqual([
      "0|0000-00-00|2001-02-31 10:00:00",
    ]);
  });

  it("follows rows of large tables without looking at all of them", async () => {
    const ground = makeGround(
      on.server,
      `CREATE TABLE big (id int AUTO_INCREMENT PRIMARY KEY, name varchar(20) UNIQUE, n int);
       CREATE TABLE parts (id int PRIMARY KEY, big int, KEY (big), FOREIGN KEY (big) REFERENCES big (id) ON DELETE CASCADE);
       CREATE TABLE bag (n int);
       INSERT INTO big SELECT seq, CONCAT('name ', seq), 0 FROM seq_1_to_20000; INSERT INTO bag SELECT n FROM big;
       INSERT INTO parts SELECT seq, seq FROM seq_1_to_20000`,
    );
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write(
      "script",
      `UPDATE big AS b SET b.n = b.id WHERE b.id BETWEEN 100 AND 1099 ORDER BY b.id LIMIT 1000;
       DELETE FROM big WHERE id IN (7, 8);
       INSERT INTO big (name, n) VALUES ('name 9', 9), ('new', 1) ON DUPLICATE KEY UPDATE n = VALUES(n) + 1;
       REPLACE INTO big (id, name, n) VALUES (30000, 'name 10', 10);
       INSERT IGNORE INTO big (id, name) VALUES (11, 'again'), (30001, 'first') RETURNING id`,
    );
    const summary = (await sandbox.diff()).changes;
    expect(summary).toHaveLength(1000 + 2 + 2 + 2 + 3 + 1);
    for (const statement of [
      "UPDATE big SET id = 50000 WHERE name = 'first'",
      "DELETE FROM bag LIMIT 1",
    ])
      await expect(sandbox.write("too much", statement)).rejects.toMatchObject({
        code: "DATABASE",
        data: { reason: "notCaptured" },
      });
    await sandbox.commit();
    expect(ground.sql("SELECT COUNT(*), SUM(n = id), SUM(n) FROM big WHERE id < 20001")).toEqual([
      "19997|1000|599510",
    ]);
    expect(ground.sql("SELECT name, n FROM big WHERE id > 20000 ORDER BY name")).toEqual([
      "first|NULL",
      "name 10|10",
      "new|1",
    ]);
    expect(ground.sql("SELECT COUNT(*) FROM parts")).toEqual(["19997"]);
    await sandbox.undoCommit();
    expect(ground.sql("SELECT COUNT(*), SUM(n), (SELECT COUNT(*) FROM parts) FROM big")).toEqual([
      "20000|0|20000",
    ]);
  });
});
