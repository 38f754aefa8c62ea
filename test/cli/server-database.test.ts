import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxError, openCofferdam } from "../../src/index.ts";
import { DatabaseProxy } from "../support/database-proxy.ts";
import type { TestDatabase } from "../support/database-server.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { answerOf } from "./answers.ts";
import { type Home, coffer, makeHome } from "./coffer.ts";

const SETUP = `CREATE TABLE jobs (id int PRIMARY KEY, name text, meta jsonb);
  INSERT INTO jobs VALUES (1, 'one', '{"k": [1, 2.50, "3"], "big": 12345678901234567890}');
  CREATE FUNCTION add_job(id int) RETURNS int LANGUAGE sql AS $$ INSERT INTO jobs VALUES (id, 'more') RETURNING id $$`;

const configOf = (url: string): string => `connections:\n  shop:\n    url: ${url}\n`;

/** A home with an open plan over a database of the server. */
function makeShop(server: PostgresServer): { readonly home: Home; readonly shop: TestDatabase } {
  const shop = server.createDatabase();
  server.sql(shop, SETUP);
  const home = makeHome({ "cofferdam.yaml": configOf(shop.url) });
  expect(coffer(home, ["open", "try", "-r", "postgres:shop"]).code).toBe(0);
  return { home, shop };
}

test("shows what a server answers as it is, and runs queries that write as scripts", async () => {
  await using server = await PostgresServer.start();
  const { home, shop } = makeShop(server);
  const sql = (text: string): string => {
    const done = coffer(home, ["sql", "-q", "try", "shop", text]);
    expect(done).toMatchObject({ code: 0, stderr: "" });
    return done.stdout;
  };
  expect(sql("SELECT id, meta FROM jobs")).toBe(
    'id  meta\n1   {"k":[1,2.50,"3"],"big":12345678901234567890}\n',
  );
  const join = "SELECT a.id, b.id, a.name, b.name FROM jobs a, (VALUES (2, 'x')) b(id, name)";
  expect(sql(join)).toBe("id  id  name  name\n1   2   one   x\n");
  expect(sql("SHOW max_prepared_transactions")).toBe("max_prepared_transactions\n20\n");
  expect(sql("SELECT add_job(2)")).toBe("");
  expect(sql("WITH gone AS (DELETE FROM jobs WHERE id = 1 RETURNING id) SELECT * FROM gone")).toBe(
    "",
  );
  expect(
    sql("WITH n AS (SELECT 2 AS id) UPDATE jobs SET name = 'new' FROM n WHERE jobs.id = n.id"),
  ).toBe("");
  expect(sql("SELECT id, name FROM jobs")).toBe("id  name\n2   new\n");
  expect(sql("EXPLAIN ANALYZE UPDATE jobs SET name = 'newer'")).toBe("");
  expect(sql("SELECT id, name FROM jobs")).toBe("id  name\n2   newer\n");
  expect(server.sql(shop, "SELECT id FROM jobs")).toEqual(["1"]);
});

test("counts equal rows of a table without a key, in a diff, a commit and what came of it", async () => {
  await using server = await PostgresServer.start();
  const { home, shop } = makeShop(server);
  server.sql(shop, "CREATE TABLE notes (a int); INSERT INTO notes VALUES (1), (1), (1), (2)");
  const told = (...args: string[]): string => {
    const done = coffer(home, args);
    expect(done).toMatchObject({ code: 0 });
    return done.stdout.replaceAll(/@[0-9a-f]{16}/g, "@…");
  };
  told("sql", "try", "shop", "INSERT INTO notes VALUES (1); DELETE FROM notes WHERE a = 1");
  told("sql", "try", "shop", "INSERT INTO notes VALUES (2)");
  expect(told("diff", "try")).toBe(
    "shop: 4 rows changed\n  public.notes  1 added, 3 deleted\n\npublic.notes\n  + @…  a: 2\n  - @…  a: 1  (3 rows like this)\n",
  );
  expect(told("diff", "try", "--stat")).toContain("- @…  8 B, 3 rows like this\n");
  expect(told("rollback", "try", "--dry-run")).toContain("would be forgotten, 4 paths\n");
  const committed = coffer(home, ["commit", "try"]);
  expect(committed.stderr).toContain("1 added, 0 changed, 3 deleted");
  expect(told("log")).toContain("shop  1 added, 3 deleted\n");
  expect(told("rollback", "try", "--dry-run")).toContain("would be taken back, 4 paths\n");
  expect(server.sql(shop, "SELECT a FROM notes")).toEqual(["2", "2"]);
});

test("says beside a change of the schema which rows look otherwise then", async () => {
  await using server = await PostgresServer.start();
  const { home } = makeShop(server);
  for (const text of ["INSERT INTO jobs VALUES (2)", "ALTER TABLE jobs RENAME TO tasks"])
    expect(coffer(home, ["sql", "try", "shop", text]).code).toBe(0);
  const note = "rows of public.jobs that changed before it are shown as they were then";
  const final = "a commit of changes of the schema cannot be taken back";
  const { stdout } = coffer(home, ["diff", "try"]);
  expect(stdout).toContain(`  schema-changes  1 added\n    ${note}\n    ${final}\n`);
  expect(stdout).toContain(`  + ALTER TABLE jobs RENAME TO tasks\n    (${note})\n    (${final})\n`);
});

/**
 * A plan whose transaction stands prepared on a server that cannot be reached any more; `config` says where it is. With
 * a folder beside it that is edited and not committed.
 */
async function loseServer(
  server: PostgresServer,
  folder?: string,
): Promise<{ home: Home; config: string; url: string }> {
  const proxy = await DatabaseProxy.start(server);
  const { home, shop } = makeShop(server);
  const { stateDirectory, project } = home;
  const config = join(project, "cofferdam.yaml");
  writeFileSync(config, configOf(shop.url.replace(`:${server.port}/`, `:${proxy.port}/`)));
  {
    await using cofferdam = await openCofferdam({ stateDirectory, config });
    const plan = await cofferdam.plan("try");
    await plan.sandbox("shop").write("job", "UPDATE jobs SET name = 'new'");
    if (folder !== undefined) {
      const location = join(project, folder);
      mkdirSync(location);
      const site = { resourceId: folder, type: "fs-directory", location } as const;
      await cofferdam.sandbox(await cofferdam.create("try", site)).write("page", "an edit");
    }
    // The answer is lost, and everything afterwards.
    const act = (): void => proxy.refuse(true);
    proxy.arm({ statement: "PREPARE TRANSACTION", when: "after", act });
    const committing = folder === undefined ? plan.commit() : plan.sandbox("shop").commit();
    await expect(committing).rejects.toBeInstanceOf(SandboxError);
  }
  await proxy[Symbol.asyncDispose]();
  expect(server.prepared()).toHaveLength(1);
  return { home, config, url: shop.url };
}

test("recovery says which resource it waits for, and why", async () => {
  await using server = await PostgresServer.start();
  const { home, config, url } = await loseServer(server);
  const unreachable = { code: "DATABASE", resourceId: "shop", data: { reason: "unreachable" } };
  expect(answerOf(home, ["recover"], 6)).toMatchObject({
    transactions: [{ outcome: "failed", error: { code: "SANDBOX_ROLLBACK", cause: unreachable } }],
    complete: false,
  });
  const { stdout, stderr } = coffer(home, ["recover"]);
  expect(stdout).toMatch(/^transaction {2}\w+ {2}not yet: shop: .*\bshop\b.*ECONNREFUSED/m);
  expect(stderr).toContain("coffer recover");
  expect(stderr).not.toContain("coffer doctor");
  writeFileSync(config, configOf(url));
  expect(answerOf(home, ["recover"])).toMatchObject({ complete: true });
  expect(server.prepared()).toEqual([]);
});

test("what a plan has that waits for a server is not known, which nothing takes for nothing", async () => {
  await using server = await PostgresServer.start();
  const { home, config } = await loseServer(server);
  for (const words of ["diff", "rollback", "rollback --dry-run", "clean"]) {
    const [command = "", ...options] = words.split(" ");
    expect(answerOf(home, [command, "try", ...options], 4)).toMatchObject({
      error: {
        code: "SANDBOX_STATE",
        data: { status: "ERRORED" },
        hint: expect.stringContaining("recover") as string,
      },
    });
  }
  const [name = ""] = server.prepared();
  const away = coffer(home, ["clean", "try", "--force"]);
  expect(away.code).not.toBe(0);
  expect(away.stderr).toContain("take the connection shop out of the configuration");
  writeFileSync(config, "connections: {}\n");
  const { code, stderr } = coffer(home, ["clean", "try", "--force"]);
  expect(code).toBe(0);
  expect(stderr).toContain(`  ROLLBACK PREPARED '${name}'\n`);
  expect(answerOf(home, ["list"])).toEqual([]);
  expect(answerOf(home, ["recover"])).toMatchObject({ complete: true });
});

test("a rollback that is refused for one resource keeps the edits of the others", async () => {
  await using server = await PostgresServer.start();
  const { home, config, url } = await loseServer(server, "site");
  expect(answerOf(home, ["rollback", "try"], 4)).toMatchObject({
    error: { code: "SANDBOX_STATE", data: { status: "ERRORED" }, resourceId: "shop" },
  });
  writeFileSync(config, configOf(url));
  expect(coffer(home, ["recover"]).code).toBe(0);
  expect(coffer(home, ["diff", "try", "--name-only"]).stdout).toContain("page");
});

test("a commit that cannot begin, because the server is gone, is given up, and done when it is back", async () => {
  await using server = await PostgresServer.start();
  const { home, shop } = makeShop(server);
  expect(coffer(home, ["sql", "try", "shop", "UPDATE jobs SET name = 'new'"]).code).toBe(0);
  await server.halt();
  expect(answerOf(home, ["commit", "try"], 5)).toMatchObject({
    error: { data: { report: { outcome: "aborted" } } },
  });
  expect(coffer(home, ["diff", "try"]).stdout).toContain("~ 1");
  await server.resume();
  expect(coffer(home, ["commit", "try"]).code).toBe(0);
  expect(server.sql(shop, "SELECT name FROM jobs")).toEqual(["new"]);
});
