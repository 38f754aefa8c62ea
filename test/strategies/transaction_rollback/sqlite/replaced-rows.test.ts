import { describe, expect, it } from "vitest";
import { makeFiles } from "./ground.ts";

/** A trigger of its own makes the sandbox look for rows that are replaced unseen. */
const TRIGGER =
  "CREATE TABLE l(x); CREATE TRIGGER tg AFTER INSERT ON l BEGIN INSERT INTO l SELECT 1 WHERE NEW.x = 0; END";

describe("a cascade in a SQLite database with triggers", () => {
  it.each([
    [
      "a column has a name like REPLACE",
      "replaced_by INT, replace TEXT DEFAULT (replace('a', 'a', 'b'))",
    ],
    ["a column is unique ON CONFLICT REPLACE", "n INT UNIQUE ON CONFLICT REPLACE, m INT"],
  ])("is recorded where %s", async (_, columns) => {
    const files = makeFiles({
      shop: `CREATE TABLE p(a INT PRIMARY KEY, ${columns});
        CREATE TABLE c(id INTEGER PRIMARY KEY, a INT REFERENCES p ON UPDATE CASCADE ON DELETE CASCADE);
        INSERT INTO p(a) VALUES (1), (5); INSERT INTO c VALUES (1, 1), (2, 5);; ${TRIGGER}`,
    });
    const all = (): string[] =>
      files.sql("shop", "SELECT 'p', a FROM p UNION ALL SELECT 'c' || id, a FROM c ORDER BY 1, 2");
    const before = all();
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("script", "UPDATE p SET a = 2 WHERE a = 1; DELETE FROM p WHERE a = 5");
    await sandbox.commit();
    expect(all()).toEqual(["c1|2", "p|2"]);
    await sandbox.undoCommit();
    expect(all()).toEqual(before);
  });
});
