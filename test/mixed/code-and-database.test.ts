import { spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { git } from "../strategies/git_worktree/checkout.ts";
import { shell } from "../strategies/shell.ts";
import { linkPackage } from "../support/package-folder.ts";
import { PostgresServer, type TestDatabase } from "../support/postgres-server.ts";
import { tempFolder } from "../support/temp.ts";

const example = fileURLToPath(new URL("../../examples/code-and-database", import.meta.url));

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const CODE = `
  git init -q -b main code; cd code; git config user.name Tess; git config user.email t@example.invalid
  printf 'export const first = "open";\\n' > orders.mjs
  printf 'import assert from "node:assert";\\nimport test from "node:test";\\nimport { first } from "./orders.mjs";\\n' > orders.test.mjs
  printf 'test("first", () => assert.ok(["open", "new"].includes(first)));\\n' >> orders.test.mjs
  git add -A; git commit -qm first; printf 'mine\\n' > notes.txt
`;

/** The example as its README says, with a database and a repository as somebody might have them. */
function setUp(): { folder: string; code: string; database: TestDatabase; run: Run } {
  const folder = tempFolder();
  cpSync(example, folder, { recursive: true });
  linkPackage(folder);
  shell(folder, CODE);
  const database = server.createDatabase();
  server.sql(database, readFileSync(join(folder, "schema.sql"), "utf8"));
  const { name, role, password } = database;
  writeFileSync(join(folder, "shop-password"), `${password}\n`, { mode: 0o600 });
  writeFileSync(
    join(folder, "cofferdam.yaml"),
    readFileSync(join(folder, "cofferdam.yaml"), "utf8").replace(
      "shop@localhost:5432/shop",
      `${role}@127.0.0.1:${server.port}/${name}`,
    ),
  );
  const run: Run = (...options) => {
    const args = ["rename-state.mjs", "./code", ...options];
    const env = { ...process.env, XDG_STATE_HOME: join(folder, "state") };
    return spawnSync(process.execPath, args, { cwd: folder, env, encoding: "utf8" });
  };
  return { folder, code: join(folder, "code"), database, run };
}

type Run = (...options: string[]) => { status: number | null; stdout: string; stderr: string };
const STATES = "SELECT state FROM orders ORDER BY id";

it("changes code and rows together, shows both, and takes both back", () => {
  const { code, database, run } = setUp();
  const tip = git(code, "rev-parse", "HEAD");
  const done = run();
  expect(done).toMatchObject({ status: 0, stderr: "" });
  expect(done.stdout).toContain('+export const first = "new";');
  expect(done.stdout).toContain("public.orders/1");
  expect(done.stdout.trimEnd().endsWith("committed")).toBe(true);
  expect(git(code, "log", "-1", "--format=%s")).toBe("Orders begin as new");
  expect(git(code, "status", "--porcelain")).toBe("?? notes.txt");
  expect(server.sql(database, STATES)).toEqual(["new", "sent", "new"]);
  expect(run("--undo")).toMatchObject({ status: 0, stdout: "taken back: rows, code\n" });
  expect(git(code, "rev-parse", "HEAD")).toBe(tip);
  expect(git(code, "status", "--porcelain")).toBe("?? notes.txt");
  expect(server.sql(database, STATES)).toEqual(["open", "sent", "open"]);
});

it("changes neither when the check of the code fails", () => {
  const { code, database, run } = setUp();
  shell(code, `sed -i 's/"open", "new"/"open"/' orders.test.mjs; git commit -qam strict`);
  const tip = git(code, "rev-parse", "HEAD");
  const failed = run();
  expect(failed.status).not.toBe(0);
  expect(failed.stdout).toContain("public.orders/1");
  expect(git(code, "rev-parse", "HEAD")).toBe(tip);
  expect(git(code, "branch", "--list")).toBe("* main");
  expect(server.sql(database, STATES)).toEqual(["open", "sent", "open"]);
});
