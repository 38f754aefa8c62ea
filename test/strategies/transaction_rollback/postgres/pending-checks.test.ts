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
