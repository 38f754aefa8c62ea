import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerOf } from "./answers.ts";
import { type Home, coffer, makeHome } from "./coffer.ts";
import { makeDatabase } from "./database.ts";

const NAMES = ["a", "b", "c", "d", "e"];

/** A plan `try` in which every file is edited, and so is every real one. */
function conflicting(): Home {
  const home = makeHome(Object.fromEntries(NAMES.map((name) => [`site/${name}`, "old\n"])));
  answerOf(home, ["open", "try", "-r", "./site"]);
  coffer(home, ["exec", "try", "--", "sh", "-c", "for f in site/*; do echo mine > $f; done"]);
  for (const name of NAMES) writeFileSync(join(home.project, "site", name), "theirs\n");
  return home;
}

test("names every conflict, and the command that settles all of them", () => {
  const home = conflicting();
  const refused = coffer(home, ["commit", "try"]);
  expect(refused.code).toBe(3);
  for (const name of NAMES) expect(refused.stderr).toContain(`\n  ${name}\n`);
  expect(refused.stderr).toContain("site: instead of PATH");
  expect(coffer(home, ["resolve", "try", "site:", "--mine"]).code).toBe(0);
  expect(coffer(home, ["commit", "try"]).code).toBe(0);
});

test("says that git rewrites an index where nothing else is in conflict", () => {
  const home = makeHome({ "site/a": "old\n" });
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", ["-C", join(home.project, "site"), ...args], { env: home.env });
  git("init", "-q");
  git("add", "-A");
  answerOf(home, ["open", "try", "-r", "./site"]);
  coffer(home, ["exec", "try", "--", "sh", "-c", "cd site; echo new > b; git add b"]);
  rmSync(join(home.project, "site/.git/index"));
  git("add", "-A");
  const refused = coffer(home, ["commit", "try"]);
  expect(refused.code).toBe(3);
  expect(refused.stderr).toMatch(/git status.*coffer resolve try \.git\/index --mine/);
});

test("says inside a plan that none can be reached there", () => {
  const home = makeHome();
  const env = { XDG_STATE_HOME: join(home.project, "file.txt") };
  const inside = coffer(home, ["list"], { env: { ...env, COFFERDAM_PLAN: "outer" } });
  expect(inside.code).toBe(1);
  expect(inside.stderr).toContain("inside the plan outer");
  const outside = coffer(home, ["list"], { env });
  expect(outside.stderr).toMatch(/cannot be used: E[A-Z]+.*\nhint: Name a folder/);
});

test("a whole database is no single edit either", () => {
  const home = makeHome();
  makeDatabase(join(home.project, "app.db"));
  answerOf(home, ["open", "try", "-r", "sqlite:./app.db"]);
  answerOf(home, ["sql", "try", "app.db", "UPDATE jobs SET name = 'two' WHERE id = 1"]);
  for (const name of ["app.db", "./app.db"]) {
    const done = coffer(home, ["drop", "try", name]);
    expect(done.code).toBe(4);
    expect(done.stderr).toContain("coffer restore try CHECKPOINT");
  }
});

test("says how a plan gets a database that it has as a file", () => {
  const home = makeHome();
  makeDatabase(join(home.project, "app.db"));
  const opened = coffer(home, ["open", "try", "-r", "app.db"]);
  expect(opened.stderr).not.toContain("cd ");
  const done = coffer(home, ["sql", "try", "app.db", "SELECT 1"]);
  expect(done.code).toBe(2);
  expect(done.stderr).toContain("-r sqlite:./app.db");
});

test("a commit that was asked for and did not happen is told whatever else is silent", () => {
  const home = makeHome();
  const done = coffer(home, ["run", "-q", "--commit", "-p", "up", "--", "sh", "-c", "exit 3"]);
  expect(done).toMatchObject({ code: 3, stdout: "" });
  expect(done.stderr).toMatch(/^Not committed: .*3\.\n$/);
});

test("a checkpoint that is there already is told in plain words", () => {
  const home = makeHome();
  answerOf(home, ["open", "try", "-r", "."]);
  answerOf(home, ["checkpoint", "try", "first"]);
  const done = coffer(home, ["checkpoint", "try", "first"]);
  expect(done.stderr).toBe(
    "coffer: There is a checkpoint first already\nhint: Choose another name.\n",
  );
});

test("a call without a command is told as such in JSON", () => {
  const { code, stdout } = coffer(makeHome(), ["--json"]);
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toMatchObject({ error: { code: "USAGE" } });
  expect(stdout).toContain("no command is given");
});

test("the help does not say of an option what its text says already", () => {
  const { stdout } = coffer(makeHome(), ["run", "--help"]);
  expect(stdout).not.toMatch(/\(default|\(choices/);
});

test("plans of the command line are spared with a reason that says how they go", () => {
  const home = makeHome();
  answerOf(home, ["open", "try", "-r", "."]);
  expect(coffer(home, ["clean", "--abandoned"]).stderr).toContain("try  stays: plans of the");
});
