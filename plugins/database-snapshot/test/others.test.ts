import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxConflictError } from "cofferdam";
import { expect, it } from "vitest";
import { Ground, psql, useServer } from "./ground.ts";

const on = useServer();
const JOBS = `CREATE TABLE jobs (id int PRIMARY KEY, name text NOT NULL);
  INSERT INTO jobs VALUES (1, 'old'), (2, 'two')`;
const ALL = "SELECT * FROM jobs ORDER BY id";

/** Somebody who stays connected to the real database, with an open transaction. */
async function connected(ground: Ground): Promise<Disposable> {
  const { url } = ground.database;
  const child = spawn("psql", [url, "-XAt"], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.write("BEGIN; INSERT INTO jobs VALUES (50, 'theirs'); SELECT 'here';\n");
  await once(child.stdout, "data");
  return {
    [Symbol.dispose]: () => {
      child.kill("SIGKILL");
    },
  };
}

it("clones a database that others are connected to, as they have committed it", async () => {
  const ground = new Ground(
    on.server,
    `${JOBS}; CREATE SEQUENCE numbers; SELECT nextval('numbers')`,
  );
  ground.sql(
    `ALTER DATABASE ${ground.database.name} SET search_path TO "$user", public, "Odd one"`,
  );
  await using cofferdam = await ground.open();
  const plan = await ground.plan(cofferdam);
  using _they = await connected(ground);
  const ran = await ground.run(
    plan,
    `test "$(psql -XAt -c '${ALL}')" = "$(printf '1|old\\n2|two')"
     test "$(psql -XAt -c 'SHOW search_path')" = '"$user", public, "Odd one"'
     ${psql("UPDATE jobs SET name = nextval('numbers') WHERE id = 1")}`,
  );
  expect(ran).toMatchObject({ exitCode: 0, unreached: [] });
  await plan.commit();
  expect(ground.sql(`${ALL}; SELECT nextval('numbers')`)).toEqual(["1|2", "2|two", "3"]);
});

it("never overwrites a row that somebody changed while a command ran", async () => {
  const ground = new Ground(on.server, JOBS);
  await using cofferdam = await ground.open();
  const plan = await ground.plan(cofferdam);
  await ground.run(plan, psql("UPDATE jobs SET name = 'ours' WHERE id = 1"));
  ground.sql("UPDATE jobs SET name = 'theirs' WHERE id = 1");
  const committing = plan.sandbox("shop").commit();
  await expect(committing).rejects.toBeInstanceOf(SandboxConflictError);
  await expect(committing).rejects.toMatchObject({
    data: { conflicts: [{ path: "public.jobs/1", reason: "changed" }] },
  });
  expect(ground.sql(ALL)).toEqual(["1|theirs", "2|two"]);
  await plan.cleanup();
});

it("ends what a command left connected or prepared; only what it committed counts", async () => {
  const ground = new Ground(on.server, JOBS);
  await using cofferdam = await ground.open();
  const plan = await ground.plan(cofferdam);
  const address = join(ground.folder, "address");
  const running = plan.run(
    [
      "sh",
      "-euc",
      `${psql("BEGIN; DELETE FROM jobs; PREPARE TRANSACTION 'left'")}
       ${psql("INSERT INTO jobs VALUES (3, 'three') ON CONFLICT DO NOTHING")}
       printf %s "$DATABASE_URL" > address; while [ ! -e go ]; do sleep 0.1; done`,
    ],
    { cwd: ground.folder, outside: "allow", stdio: ["ignore", "ignore", "inherit"] },
  );
  // As a developer would with a client of his own, from outside.
  await expect.poll(() => read(address), { timeout: 50_000 }).not.toBe("");
  const guest = spawn("psql", [read(address), "-XAt"], { stdio: ["pipe", "pipe", "ignore"] });
  guest.stdin.write(
    "INSERT INTO jobs VALUES (4, 'guest'); SELECT 1; BEGIN; INSERT INTO jobs VALUES (5, 'open');\n",
  );
  await once(guest.stdout, "data");
  const ended = once(guest, "exit");
  writeFileSync(join(ground.folder, "go"), "");
  expect(await running).toMatchObject({ exitCode: 0 });
  guest.stdin.end("SELECT 1;\n");
  await ended;
  await plan.commit();
  expect(ground.sql(ALL)).toEqual(["1|old", "2|two", "3|three", "4|guest"]);
  expect(ground.clones()).toEqual([]);
  expect(on.server.prepared()).toEqual([]);
});

it("is named as out of reach where a command has no network", async () => {
  const ground = new Ground(on.server, JOBS);
  await using cofferdam = await ground.open();
  const plan = await ground.plan(cofferdam);
  const told: string[] = [];
  const ran = await plan.run(["true"], {
    cwd: ground.folder,
    network: false,
    stdio: ["ignore", "ignore", "inherit"],
    onUnreached: (names) => told.push(...names),
  });
  expect(ran.unreached).toEqual(["shop"]);
  expect(told).toEqual(["shop"]);
});

it("gives the plain names to the first of two databases, and both by their own", async () => {
  const [one, two] = [new Ground(on.server, JOBS), new Ground(on.server, JOBS)];
  one.connect(one.database.url, two.database.url);
  await using cofferdam = await one.open();
  const plan = await cofferdam.plan(
    "plan",
    ["main", "second"].map((name) => ({
      id: `${name}-db`,
      type: "database",
      location: name,
      sandboxStrategy: "database_snapshot",
    })),
  );
  await plan.run(
    [
      "sh",
      "-euc",
      `test -z "\${PGSERVICE:-}"; test "$PGDATABASE" = "$PGDATABASE_MAIN_DB"
       psql "$DATABASE_URL_SECOND_DB" -Xqc "UPDATE jobs SET name = 'second' WHERE id = 1"
       ${psql("UPDATE jobs SET name = 'first' WHERE id = 1")}`,
    ],
    {
      cwd: one.folder,
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, PGSERVICE: "production", DATABASE_URL: one.database.url },
    },
  );
  expect(one.sql(ALL)).toEqual(["1|old", "2|two"]);
  await plan.commit();
  expect([one.sql(ALL)[0], two.sql(ALL)[0]]).toEqual(["1|first", "1|second"]);
});

function read(file: string): string {
  return execFileSync("sh", ["-c", 'cat "$1" 2> /dev/null || true', "sh", file], {
    encoding: "utf8",
  });
}
