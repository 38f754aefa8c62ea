import { spawn } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { coffer, node, program, run } from "./coffer.ts";
import { bytesOf, makeDatabaseHome, programWith, statementsIn } from "./command-database.ts";

const JOBS =
  "CREATE TABLE jobs(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO jobs VALUES (1, 'one'), (2, 'two'), (3, 'three')";
const EDIT =
  "INSERT INTO jobs VALUES (4, 'four'); UPDATE jobs SET name = 'TWO' WHERE id = 2; DELETE FROM jobs WHERE id = 3";
const EDITED = ["1|one", "2|TWO", "4|four"];
const OLD = ["1|one", "2|two", "3|three"];
const ALL = "SELECT id || '|' || name FROM jobs ORDER BY id";
const RUN = ["run", "-p", "up", "-r", "sqlite:./app.db"];

it("a command finds the database at its path, and its rows are those of the plan until the commit", () => {
  const home = makeDatabaseHome(JOBS);
  const before = bytesOf(home.database);
  const done = coffer(home, [...RUN, "--", ...statementsIn(home.database, EDIT)]);
  expect(done.code, done.stderr).toBe(0);
  expect(home.changes("up")).toEqual({
    "main.jobs/2": "modified",
    "main.jobs/3": "deleted",
    "main.jobs/4": "added",
  });
  expect([bytesOf(home.database), home.names()]).toEqual([before, ["app.db", "file.txt"]]);
  expect(coffer(home, ["commit", "up"]).code).toBe(0);
  expect(home.sql(ALL)).toEqual(EDITED);
  expect(coffer(home, ["rollback", "up"]).code).toBe(0);
  expect(home.sql(ALL)).toEqual(OLD);
  expect(home.names()).toEqual(["app.db", "file.txt"]);
});

it("commands, statements and checkpoints of one plan go on where the last one ended", () => {
  const home = makeDatabaseHome(JOBS);
  expect(coffer(home, ["open", "up", "-r", "sqlite:./app.db"]).code).toBe(0);
  const sql = ["sql", "up", "app.db"];
  expect(coffer(home, [...sql, "UPDATE jobs SET name = 'sql' WHERE id = 1"]).code).toBe(0);
  const next = "INSERT INTO jobs SELECT 9, name || ' and command' FROM jobs WHERE id = 1";
  const exec = ["exec", "up", "--", ...statementsIn("app.db", next)];
  expect(coffer(home, exec).code).toBe(0);
  expect(coffer(home, ["checkpoint", "up", "one"]).code).toBe(0);
  const wrong = ["exec", "up", "--", ...statementsIn("app.db", "DELETE FROM jobs")];
  expect(coffer(home, wrong).code).toBe(0);
  expect(home.told([...sql, "SELECT count(*) AS n FROM jobs"])).toMatchObject({
    rows: [{ n: 0 }],
  });
  expect(coffer(home, ["restore", "up", "one"]).code).toBe(0);
  expect(coffer(home, ["commit", "up"]).code).toBe(0);
  expect(home.sql(ALL)).toEqual(["1|sql", "2|two", "3|three", "9|sql and command"]);
});

it.each(["discard", "read-only", "allow"])(
  "with --outside %s nothing comes to lie beside the real database",
  (outside) => {
    const home = makeDatabaseHome(`PRAGMA journal_mode = DELETE; ${JOBS}`);
    const before = bytesOf(home.database);
    const body = `db.exec("PRAGMA journal_mode = PERSIST");
      db.exec(${JSON.stringify(EDIT)});
      process.kill(process.pid, "SIGKILL");`;
    const args = [...RUN, "--outside", outside, "--", ...programWith("app.db", body)];
    const done = coffer(home, args);
    expect(done.code, done.stderr).toBe(137);
    expect([bytesOf(home.database), home.names()]).toEqual([before, ["app.db", "file.txt"]]);
    expect(Object.keys(home.changes("up"))).toHaveLength(3);
  },
);

it.each([
  ["DELETE", "DELETE"],
  ["TRUNCATE", "DELETE"],
  ["WAL", "DELETE"],
  ["DELETE", "WAL"],
])(
  "a command in mode %s that is killed in a database in mode %s keeps what it committed",
  (mode, real) => {
    const home = makeDatabaseHome(`PRAGMA journal_mode = ${real};;${JOBS}`);
    // So little room that rows of the second transaction are in the file, or its log, before it ends.
    const body = `db.exec("PRAGMA journal_mode = ${mode}; PRAGMA cache_size = 2; PRAGMA cache_spill = 1");
    db.exec(${JSON.stringify(EDIT)});
    db.exec("BEGIN");
    db.exec("UPDATE jobs SET name = 'lost'");
    db.exec("WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) INSERT INTO jobs SELECT i, hex(zeroblob(100)) FROM n");
    process.kill(process.pid, "SIGKILL");`;
    const done = coffer(home, [...RUN, "--", ...programWith("app.db", body)]);
    expect(done.code, done.stderr).toBe(137);
    expect(coffer(home, ["commit", "up"]).code).toBe(0);
    expect(home.sql(`PRAGMA integrity_check; ${ALL}`)).toEqual(EDITED);
    expect(home.sql("SELECT * FROM pragma_journal_mode")).toEqual([real.toLowerCase()]);
  },
);

it("a directory around the database takes the other files, and never the database or its journals", async () => {
  const home = makeDatabaseHome(`PRAGMA journal_mode = WAL;;${JOBS}`, "data/app.db");
  // As long as another program has it open, its log lies beside the real file.
  const body =
    'db.prepare("SELECT 1 FROM jobs").all(); console.log("open"); setInterval(() => db, 1000);';
  const [command = node, ...args] = programWith(home.database, body);
  const reader = spawn(command, args, { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void reader.kill("SIGKILL"));
  await new Promise((resolve) => void reader.stdout.once("data", resolve));
  expect(home.names()).toContain("app.db-wal");
  const script = `${quote(statementsIn("data/app.db", EDIT))} && echo new > data/file.txt`;
  const resources = ["-r", ".", "-r", "sqlite:./data/app.db"];
  const done = coffer(home, ["run", "-p", "up", ...resources, "--", "sh", "-c", script]);
  expect(done.code, done.stderr).toBe(0);
  expect(home.changes("up")).toEqual({
    "data/file.txt": "modified",
    "main.jobs/2": "modified",
    "main.jobs/3": "deleted",
    "main.jobs/4": "added",
  });
  expect(coffer(home, ["commit", "up"]).code).toBe(0);
  expect(home.sql(ALL)).toEqual(EDITED);
  expect(run(home, "cat", ["data/file.txt"]).stdout).toBe("new\n");
});

it("a database that somebody else changed meanwhile is a conflict, and stays as that one left it", () => {
  const home = makeDatabaseHome(JOBS);
  const keep = [...RUN, "--keep", "--", ...statementsIn("app.db", EDIT)];
  expect(coffer(home, keep).code).toBe(0);
  home.sql("UPDATE jobs SET name = 'theirs' WHERE id = 2");
  const { code, stdout } = coffer(home, ["commit", "up", "--json"]);
  expect(code).toBe(3);
  expect(JSON.stringify(JSON.parse(stdout))).toContain("main.jobs/2");
  expect(home.sql(ALL)).toEqual(["1|one", "2|theirs", "3|three"]);
});

it("rows of a run that was killed are taken by the next call", async () => {
  const home = makeDatabaseHome(JOBS);
  const body = `db.exec(${JSON.stringify(EDIT)}); console.log("ready"); setInterval(() => db, 1000);`;
  const args = [program, ...RUN, "--", ...programWith("app.db", body)];
  const child = spawn(node, args, {
    cwd: home.project,
    env: home.env,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await new Promise((resolve) => void child.stdout.once("data", resolve));
  expect(home.changes("up")).toEqual({});
  const ended = new Promise((resolve) => void child.once("close", resolve));
  child.kill("SIGKILL");
  await ended;
  for (let waited = 0; waited < 200 && coffer(home, ["commit", "up"]).code === 8; waited += 1)
    await pause(25);
  expect(home.sql(ALL)).toEqual(EDITED);
});

it("what cannot be recorded is refused, kept where the error says, and not taken into the plan", () => {
  const home = makeDatabaseHome(`${JOBS}; CREATE VIRTUAL TABLE words USING fts5(text)`);
  const both = `${EDIT}; INSERT INTO words VALUES ('found')`;
  const { code, stdout } = coffer(home, [
    ...RUN,
    "--json",
    "--commit",
    "--",
    ...statementsIn("app.db", both),
  ]);
  const { error } = JSON.parse(stdout) as {
    readonly error: {
      readonly code: string;
      readonly data: { readonly reason: string; readonly keptAt: string };
    };
  };
  expect([code === 0, error.code, error.data.reason]).toEqual([false, "DATABASE", "notCaptured"]);
  expect(home.changes("up")).toEqual({});
  const kept = run(home, "sqlite3", [error.data.keptAt, ALL]).stdout;
  expect(kept).toBe(`${EDITED.join("\n")}\n`);
  expect(home.sql(ALL)).toEqual(OLD);
  expect(coffer(home, ["clean", "up", "--force"]).code).toBe(0);
  expect(existsSync(error.data.keptAt)).toBe(false);
});

it.each([
  ["is no database any more", (path: string) => ["sh", "-c", `head -c 100 /dev/urandom > ${path}`]],
  ["is gone", () => ["sh", "-c", 'rm "$(readlink app.db)"']],
  [
    "is a link elsewhere",
    () => ["sh", "-c", 'to=$(readlink app.db); mv "$to" "$to.real"; ln -s /etc/hostname "$to"'],
  ],
])("a copy that %s is kept aside, and the plan goes on without it", (_, command) => {
  const home = makeDatabaseHome(JOBS);
  const before = bytesOf(home.database);
  const { stdout } = coffer(home, [...RUN, "--json", "--", ...command("app.db")]);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "DATABASE", data: { reason: "notCaptured" } },
  });
  expect(coffer(home, ["exec", "up", "--", ...statementsIn("app.db", EDIT)]).code).toBe(0);
  expect([Object.keys(home.changes("up")).length, bytesOf(home.database)]).toEqual([3, before]);
});

it.each(["app.db", "data/deep/app.db"])(
  "a git worktree that does not have the database %s shows it all the same, and keeps nothing of it",
  (path) => {
    const home = makeDatabaseHome(JOBS, path);
    writeFileSync(join(home.project, "kept.txt"), "text\n");
    const identity = ["-c", "user.name=n", "-c", "user.email=e"];
    for (const args of [
      ["init", "-q"],
      ["add", "kept.txt"],
      [...identity, "commit", "-qm", "m"],
    ])
      expect(run(home, "git", args).code).toBe(0);
    writeFileSync(join(home.project, ".git/info/exclude"), "*.db\nfile.txt\n");
    const resources = ["-r", "git:.", "-r", `sqlite:./${path}`];
    const command = ["--", ...statementsIn(path, EDIT)];
    const args = ["--json", "run", "-p", "up", "--keep", ...resources, ...command];
    const { stdout, stderr } = coffer(home, args);
    expect(JSON.parse(stdout), stderr).toMatchObject({ exitCode: 0, unreached: [] });
    expect(Object.keys(home.changes("up"))).toEqual(["main.jobs/2", "main.jobs/3", "main.jobs/4"]);
    const worktree = coffer(home, ["path", "up", "project"]).stdout.trim();
    expect(readdirSync(worktree).toSorted()).toEqual([".git", "kept.txt"]);
    expect(coffer(home, ["commit", "up"]).code).toBe(0);
    expect(home.sql(ALL)).toEqual(EDITED);
  },
);

it("a sandbox that has a file in the place of the folder hides the database, and that is told", () => {
  const home = makeDatabaseHome(JOBS, "data/app.db");
  const script = "rm -r data && echo x > data";
  expect(coffer(home, ["run", "-p", "up", "--keep", "--", "sh", "-c", script]).code).toBe(0);
  expect(coffer(home, ["open", "up", "-r", "sqlite:./data/app.db"]).code).toBe(0);
  const told = home.told(["exec", "up", "--", "test", "-f", "data"]);
  expect(told).toMatchObject({ exitCode: 0, unreached: ["app.db"] });
});

it("no command runs in a plan that is committed, and the error says so of the plan", () => {
  const home = makeDatabaseHome(JOBS);
  expect(coffer(home, [...RUN, "--commit", "--", ...statementsIn("app.db", EDIT)]).code).toBe(0);
  const { stdout } = coffer(home, ["exec", "up", "--json", "--", "true"]);
  expect(JSON.parse(stdout)).toMatchObject({
    error: { code: "SANDBOX_STATE", planId: "up", data: { status: "COMMITTED", attempted: "run" } },
  });
});

/** Arguments as text of a shell. */
function quote(args: readonly string[]): string {
  return args.map((one) => `'${one.replaceAll("'", String.raw`'\''`)}'`).join(" ");
}

it("an undo is offered after a commit only where it is possible", () => {
  const home = makeDatabaseHome(JOBS);
  const rows = coffer(home, [...RUN, "--commit", "--", ...statementsIn(home.database, EDIT)]);
  expect(rows.stderr).toContain("coffer rollback up");
  const schema = ["sql", "next", "app.db", "ALTER TABLE jobs ADD COLUMN done INTEGER"];
  expect(coffer(home, ["open", "next", "-r", "sqlite:./app.db"]).code).toBe(0);
  expect(coffer(home, schema).code).toBe(0);
  const committed = coffer(home, ["commit", "next"]);
  expect(committed.code, committed.stderr).toBe(0);
  expect(committed.stderr).toContain("app.db cannot be taken back");
  expect(committed.stderr).not.toContain("coffer rollback");
});

it("a query without rows says so, and its answer is empty", () => {
  const home = makeDatabaseHome(JOBS);
  expect(coffer(home, ["open", "up", "-r", "sqlite:./app.db"]).code).toBe(0);
  const none = coffer(home, ["sql", "up", "app.db", "SELECT * FROM jobs WHERE id > 9"]);
  expect(none).toMatchObject({ code: 0, stdout: "", stderr: "No rows.\n" });
});
