import { expect, it } from "vitest";
import { DatabaseError } from "../../../../src/index.ts";
import { type Ground, SHOP, makeGround } from "../fixture.ts";
import { MARIADB, runServer } from "../servers.ts";

const on = runServer(MARIADB);

const SETUP = `
  CREATE TABLE groups_ (id int PRIMARY KEY, name varchar(9) UNIQUE);
  CREATE TABLE members (id int AUTO_INCREMENT PRIMARY KEY, place int, name varchar(9), half double, twice double AS (half * 2) STORED,
    UNIQUE (place, name), FOREIGN KEY (place) REFERENCES groups_ (id) ON DELETE CASCADE ON UPDATE CASCADE);
  CREATE TABLE words (member int, word blob, FOREIGN KEY (member) REFERENCES members (id) ON DELETE SET NULL);
  CREATE TABLE log (n int AUTO_INCREMENT PRIMARY KEY, what varchar(40));
  CREATE TRIGGER noted AFTER INSERT ON words FOR EACH ROW INSERT INTO log (what) VALUES (HEX(NEW.word));
  INSERT INTO groups_ VALUES (1, 'a'), (2, 'b'), (3, NULL);
  INSERT INTO members (place, name) VALUES (1, 'x'), (1, 'y'), (2, 'x'), (NULL, NULL);
  INSERT INTO words VALUES (1, x'00'), (1, x'00'), (2, NULL);`;

const TABLES = ["groups_", "members", "words", "log"];

/** A small generator, so that a seed gives the same statements again. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function statementOf(random: (below: number) => number): string {
  const [id, other, name] = [
    random(6) + 1,
    random(6) + 1,
    ["'a'", "'B'", "'x'", "NULL"][random(4)] ?? "",
  ];
  const kinds = [
    `INSERT IGNORE INTO groups_ VALUES (${id}, ${name})`,
    `REPLACE INTO groups_ VALUES (${id}, ${name})`,
    `INSERT INTO groups_ VALUES (${id}, ${name}), (${other}, ${name}) ON DUPLICATE KEY UPDATE name = CONCAT(id, 'u')`,
    `UPDATE IGNORE groups_ SET id = ${id} WHERE id = ${other}`,
    `DELETE FROM groups_ WHERE id = ${id}`,
    `INSERT IGNORE INTO members (place, name, half) SELECT id, ${name}, RAND() FROM groups_ WHERE id >= ${id}`,
    `UPDATE members SET half = id / 3, name = ${name} WHERE place = ${id} ORDER BY id LIMIT 1`,
    `UPDATE IGNORE members SET place = ${id} WHERE id = ${other}`,
    `DELETE FROM members WHERE half > RAND() LIMIT 2`,
    `INSERT INTO words SELECT id, UNHEX(SHA1(RAND())) FROM members LIMIT ${random(3)}`,
    `UPDATE words SET word = x'${random(99) + 100}00' LIMIT 2`,
    `DELETE FROM words WHERE member IS NULL LIMIT 1`,
    `UPDATE members m JOIN groups_ g ON g.id = m.place SET m.half = 1, g.name = CONCAT('j', g.id) WHERE m.id > ${id}`,
  ];
  return kinds[random(kinds.length)] ?? "";
}

function everything(ground: Ground): string[] {
  return TABLES.flatMap((table) => ground.sql(`SELECT * FROM ${table}`).sort());
}

it.each([1, 2, 3, 4, 5, 6])(
  "random statements are committed as they were seen, and undone without a trace, seed %i",
  async (seed) => {
    const random = randomFrom(seed);
    const ground = makeGround(on.server, SETUP);
    const before = everything(ground);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    const failures: (readonly [script: string, reason: unknown])[] = [];
    for (let round = 0; round < 12; round += 1) {
      const script = Array.from({ length: random(3) + 1 }, () => statementOf(random)).join("; ");
      await sandbox.write(`script ${round}`, script).catch((thrown: unknown) => {
        failures.push([script, thrown instanceof DatabaseError ? thrown.data.reason : thrown]);
      });
    }
    expect(failures.length).toBeLessThan(8);
    // A key that is violated is the server's own refusal; the sandbox has none of its own here.
    expect(failures.filter(([, reason]) => reason !== "failed")).toEqual([]);
    const texts = async (from: typeof sandbox): Promise<string[]> => {
      const found = [];
      for (const table of TABLES) {
        const bytes = await from.read(`SELECT * FROM ${table} ORDER BY 1, 2`);
        found.push(Buffer.from(bytes).toString("utf8"));
      }
      return found;
    };
    const seen = await texts(sandbox);
    expect(everything(ground)).toEqual(before);
    await sandbox.commit();
    expect(await texts(cofferdam.sandbox(await cofferdam.create("look", SHOP)))).toEqual(seen);
    await sandbox.undoCommit();
    expect(everything(ground)).toEqual(before);
  },
);
