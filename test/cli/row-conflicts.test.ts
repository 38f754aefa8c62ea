import { writeFileSync } from "node:fs";
import { Client } from "pg";
import { expect, test } from "vitest";
import { PostgresServer } from "../support/postgres-server.ts";
import { answerOf } from "./answers.ts";
import { type Home, coffer, makeHome } from "./coffer.ts";
import { makeDatabaseHome } from "./command-database.ts";

const JOBS =
  "CREATE TABLE jobs(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO jobs VALUES (1, 'one')";
const MINE = "UPDATE jobs SET name = 'mine' WHERE id = 1";

function hintOf(home: Home, args: readonly string[], code: number): string {
  return (answerOf(home, args, code) as { error: { hint: string } }).error.hint;
}

test("taking a part back is suggested only where something is shown that has parts to take back", () => {
  const home = makeDatabaseHome(JOBS);
  answerOf(home, ["open", "try", "-r", "sqlite:./app.db", "-r", "filesystem_copy+file:./file.txt"]);
  answerOf(home, ["sql", "try", "app.db", MINE]);
  expect(coffer(home, ["diff", "try"]).stderr).not.toContain("coffer drop");
  const { path } = answerOf(home, ["path", "try", "file.txt"]) as { path: string };
  writeFileSync(path, "mine\n");
  expect(coffer(home, ["diff", "try"]).stderr).toContain("coffer drop try PATH");
  expect(coffer(home, ["diff", "try", "file.txt"]).stderr).toContain("coffer drop try PATH");
  const rows = coffer(home, ["diff", "try", "app.db"]).stderr;
  expect(rows).toContain("coffer commit try");
  expect(rows).not.toContain("coffer drop");
});

test("the ways out of a conflict of rows that hints name do work", () => {
  const home = makeDatabaseHome(JOBS);
  answerOf(home, ["open", "try", "-r", "sqlite:./app.db"]);
  answerOf(home, ["checkpoint", "try", "begin"]);
  answerOf(home, ["sql", "try", "app.db", MINE]);
  home.sql("UPDATE jobs SET name = 'theirs' WHERE id = 1");
  const hints = [
    hintOf(home, ["commit", "try"], 3),
    hintOf(home, ["sql", "try", "app.db", "SELECT 1"], 3),
    hintOf(home, ["drop", "try", "main.jobs/1"], 4),
    hintOf(home, ["resolve", "try", "main.jobs/1", "--mine"], 4),
  ];
  for (const hint of hints) {
    expect(hint).toContain("`coffer restore try CHECKPOINT`");
    expect(hint).toContain("`coffer rollback try`");
    expect(hint).not.toContain("coffer sql");
  }
  answerOf(home, ["restore", "try", "begin"]);
  answerOf(home, ["sql", "try", "app.db", MINE]);
  home.sql("UPDATE jobs SET name = 'theirs again' WHERE id = 1");
  answerOf(home, ["commit", "try"], 3);
  answerOf(home, ["rollback", "try"]);
  answerOf(home, ["sql", "try", "app.db", MINE]);
  answerOf(home, ["commit", "try"]);
  expect(home.sql("SELECT name FROM jobs")).toEqual(["mine"]);
});

test("a row that somebody only holds is waited for, and nothing is thrown away", async () => {
  await using server = await PostgresServer.start();
  const shop = server.createDatabase();
  server.sql(shop, JOBS);
  const home = makeHome({ "cofferdam.yaml": `connections:\n  shop:\n    url: ${shop.url}\n` });
  answerOf(home, ["open", "try", "-r", "postgres:shop"]);
  const holder = new Client(shop.url);
  await holder.connect();
  const whileHeld = async (args: readonly string[]): Promise<{ hint: string; message: string }> => {
    await holder.query("BEGIN; UPDATE jobs SET name = name");
    const { error } = answerOf(home, args, 3) as { error: { hint: string; message: string } };
    await holder.query("ROLLBACK");
    return error;
  };
  const more = "INSERT INTO jobs VALUES (2, 'mine'), (3, 'mine'), (4, 'mine')";
  expect((await whileHeld(["sql", "try", "shop", MINE])).hint).toContain("Try again");
  answerOf(home, ["sql", "try", "shop", `${MINE}; ${more}`]);
  const { hint, message } = await whileHeld(["commit", "try"]);
  expect(hint).toContain("`coffer commit try` again");
  // Which of them is held, nobody knows.
  expect(message).toContain("some of 4 in public.jobs");
  answerOf(home, ["commit", "try"]);
  expect(server.sql(shop, "SELECT DISTINCT name FROM jobs")).toEqual(["mine"]);
  expect((await whileHeld(["rollback", "try"])).hint).toContain("Try again");
  answerOf(home, ["rollback", "try"]);
  expect(server.sql(shop, "SELECT name FROM jobs")).toEqual(["one"]);
  await holder.end();
}, 90_000);
