import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerOf } from "./answers.ts";
import { jobsIn, makeDatabase } from "./database.ts";
import { coffer, type Home, makeHome, node, program, run } from "./coffer.ts";

interface Opened {
  readonly sandboxes: readonly { readonly resourceId: string; readonly strategyName: string }[];
}

/** The resources of a plan that is opened with these, as id and strategy. */
function opened(home: Home, ...resources: readonly string[]): readonly (readonly string[])[] {
  const args = resources.flatMap((resource) => ["-r", resource]);
  const { sandboxes } = answerOf(home, ["open", "try", ...args]) as Opened;
  return sandboxes.map(({ resourceId, strategyName }) => [resourceId, strategyName]);
}

test("reads every form of a RESOURCE, and gives each the last part of its path as id where that is free", () => {
  const home = makeHome({
    "site/a": "a\n",
    "b/site/a": "a\n",
    "one.txt": "1\n",
    "odd:name/a": "a\n",
    "data/a": "a\n",
    "cofferdam.yaml": `
resources:
  named: { type: fs-directory, location: ./data, strategy: filesystem_copy }
`,
  });
  const { project } = home;
  makeDatabase(join(project, "app 1.db"));
  const other = join(project, "b/site");
  const given = ["named", "site", "filesystem_copy+dir:b/site", "file:./one.txt"];
  expect(opened(home, ...given, "sqlite:./app 1.db", "copy_on_write+dir:./odd:name")).toEqual([
    ["named", "filesystem_copy"],
    ["site", "overlay"],
    [other, "filesystem_copy"],
    ["one.txt", "overlay"],
    ["app 1.db", "transaction_rollback"],
    ["odd:name", "copy_on_write"],
  ]);
  // The same things again are the same sandboxes, and are found by path and by type as well.
  expect(opened(home, "./site", "dir:./b/site", "sqlite:app 1.db")).toHaveLength(6);
  for (const name of [other, "./b/site", "dir:b/site"])
    expect(answerOf(home, ["path", "try", name])).toMatchObject({ resourceId: other });
});

test("takes a path for a directory or file, also when it is a repository or a database", () => {
  const home = makeHome({ "repo/.gitignore": "node_modules\n", "repo/node_modules/x": "x\n" });
  const repository = join(home.project, "repo");
  expect(run(home, "git", ["init", "-q", repository]).code).toBe(0);
  const commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"];
  expect(run(home, "git", ["-C", repository, "add", "."]).code).toBe(0);
  expect(run(home, "git", ["-C", repository, ...commit]).code).toBe(0);
  makeDatabase(join(home.project, "app.db"));
  expect(opened(home, "repo", "app.db", "file:app.db")).toEqual([
    ["repo", "overlay"],
    ["app.db", "overlay"],
  ]);
  const { path } = answerOf(home, ["path", "try", "repo"]) as { path: string };
  expect(run(home, "cat", [join(path, "node_modules/x")]).stdout).toBe("x\n");
  const typed = answerOf(home, ["open", "git", "-r", "git:./repo"]) as Opened;
  expect(typed.sandboxes).toMatchObject([{ resourceId: "repo", strategyName: "git_worktree" }]);
});

test("sandboxes a database by its path without any configuration, also for later processes elsewhere", () => {
  const home = makeHome({ "file.txt": "text\n" });
  const elsewhere = join(home.folder, "elsewhere");
  mkdirSync(elsewhere);
  const database = join(home.project, "app.db");
  makeDatabase(database);
  answerOf(home, ["open", "try", "-r", "sqlite:./app.db"]);
  const script =
    "UPDATE jobs SET name = 'eins' WHERE id = 1; INSERT INTO jobs VALUES (9007199254740993, 'two')";
  expect(answerOf(home, ["sql", "try", "app.db", script])).toEqual({
    ...{ planId: "try", resourceId: "app.db", changed: true },
  });
  expect(jobsIn(database)).toEqual(["1|one"]);
  const asked = coffer(home, ["sql", "try", "app.db", "SELECT * FROM jobs", "-q"], {
    cwd: elsewhere,
  });
  expect(asked).toMatchObject({
    ...{ code: 0, stderr: "" },
    stdout: "id                name\n1                 eins\n9007199254740993  two\n",
  });
  const json = coffer(home, ["sql", "try", "app.db", "select id from jobs where id > 1", "--json"]);
  expect(json.stdout).toMatch(/"rows": \[\{"id":9007199254740993\}\]/);
  expect(coffer(home, ["diff", "try", "-q"], { cwd: elsewhere }).stdout).toBe(
    [
      "app.db: 2 rows changed",
      "  main.jobs  1 added, 1 modified",
      "",
      "main.jobs",
      '  ~ 1  name: "one" → "eins"',
      '  + 9007199254740993  id: 9007199254740993, name: "two"',
      "",
    ].join("\n"),
  );
  expect(answerOf(home, ["sql", "try", "app.db", "COMMIT"], 4)).toMatchObject({
    error: { code: "DATABASE", data: { reason: "endsTransaction" } },
  });
  expect(answerOf(home, ["sql", "try", "app.db", "SELECT nothing FROM jobs"], 1)).toMatchObject({
    error: { code: "DATABASE", data: { reason: "failed" } },
  });
  expect(answerOf(home, ["path", "try", "app.db"], 2)).toMatchObject({ error: { code: "USAGE" } });
  answerOf(home, ["commit", "try"]);
  expect(jobsIn(database)).toEqual(["1|eins", "9007199254740993|two"]);
});

test("runs scripts that begin with a query, or with WITH and write, and says why no rows are shown", () => {
  const home = makeHome({});
  const database = join(home.project, "app.db");
  makeDatabase(database);
  answerOf(home, ["open", "try", "-r", "sqlite:app.db"]);
  const sql = ["sql", "try", "app.db"];
  const done = { planId: "try", resourceId: "app.db", changed: true };
  const add = "SELECT count(*) FROM jobs; INSERT INTO jobs VALUES (2, 'two')";
  expect(answerOf(home, [...sql, add])).toEqual(done);
  const rename = "WITH n AS (SELECT 1 AS id) UPDATE jobs SET name = 'eins' WHERE id IN n";
  expect(answerOf(home, [...sql, rename])).toEqual(done);
  const asked = coffer(home, [...sql, "SELECT 1; SELECT 2"]);
  expect(asked).toMatchObject({ code: 0, stdout: "" });
  expect(asked.stderr).toContain("Rows are shown for a query that stands alone");
  expect(answerOf(home, [...sql, "WITH n AS (SELECT 1) SELECT nothing FROM n"], 1)).toMatchObject({
    error: { code: "DATABASE", data: { reason: "failed", command: "WITH" } },
  });
  answerOf(home, ["commit", "try"]);
  expect(jobsIn(database)).toEqual(["1|eins", "2|two"]);
});

test("takes SQL from a file and from the standard input as well", () => {
  const home = makeHome({ "add.sql": "INSERT INTO jobs VALUES (2, 'two');\n" });
  makeDatabase(join(home.project, "app.db"));
  answerOf(home, ["open", "try", "-r", "sqlite:app.db"]);
  answerOf(home, ["sql", "try", "sqlite:app.db", "--file", "add.sql"]);
  const line = `echo "SELECT count(*) AS n FROM jobs" | "${node}" "${program}" sql -q try app.db`;
  expect(run(home, "sh", ["-c", line])).toMatchObject({ code: 0, stdout: "n\n2\n", stderr: "" });
  const file = join(home.project, "latin1.sql");
  writeFileSync(file, "INSERT INTO jobs VALUES (3, 'Caf\u00e9')", "latin1");
  for (const name of ["missing.sql", "latin1.sql"]) {
    expect(answerOf(home, ["sql", "try", "app.db", "-f", name], 2)).toMatchObject({
      error: { code: "USAGE", message: expect.stringContaining(name) as string },
    });
  }
});

test.for([
  ["dirr:./site", "Did you mean dir?"],
  ["postgres:orders", "Add it under connections"],
  ["mariadb:orders", "for mariadb"],
  ["", "A RESOURCE is"],
] as const)(
  "refuses the RESOURCE %j as a wrong call and says what is right",
  ([resource, hint]) => {
    const home = makeHome();
    const { error } = answerOf(home, ["open", "try", "-r", resource], 2) as {
      error: { code: string; hint: string };
    };
    expect(error.code).toBe("USAGE");
    expect(error.hint).toContain(hint);
    expect(existsSync(join(home.stateDirectory, "plans", "try"))).toBe(false);
  },
);

test("a URL where a path is expected is refused, and nothing of it is told (R238)", () => {
  const home = makeHome();
  const { code, stdout, stderr } = coffer(home, [
    "open",
    "try",
    "-r",
    "git:https://clerk:Hidden1@example.invalid/shop.git",
  ]);
  expect(code).toBe(2);
  expect(stdout + stderr).not.toMatch(/clerk|Hidden/);
});

const ADDRESS = "//clerk:Hid+den:1@127.0.0.1:1/shop";

test.for([
  `postgres:${ADDRESS}`,
  `postgresql:${ADDRESS}`,
  `mysql:${ADDRESS}`,
  `transaction_rollback+mariadb:${ADDRESS}`,
  `database:postgres:${ADDRESS}`,
  "postgres://clerk@127.0.0.1:1/shop",
  "postgres:clerk:Hidden1@127.0.0.1/shop",
  "mariadb:user=clerk password=Hidden1",
  "postgres:clerk:Hidden1",
] as const)("tells nothing of the URL %j where a connection is to be named (R238)", (resource) => {
  const home = makeHome();
  answerOf(home, ["open", "try", "-r", "."]);
  for (const args of [
    ["open", "other", "-r", resource],
    ["run", "-r", resource, "--", "true"],
    ["sql", "try", resource, "SELECT 1"],
    ["diff", "try", resource],
    ["drop", "try", resource],
    ["commit", "try", "--only", resource],
  ]) {
    for (const form of [args, ["--json", ...args]]) {
      const { code, stdout, stderr } = coffer(home, form);
      expect({ form, code, told: stdout + stderr }).toEqual({
        form,
        code: 2,
        told: expect.stringMatching(/connections: in cofferdam\.yaml/) as string,
      });
      expect(stdout + stderr).not.toMatch(/clerk|hid|den/i);
    }
  }
  expect(run(home, "grep", ["-rlaE", "clerk|Hid", home.stateDirectory]).stdout).toBe("");
});
