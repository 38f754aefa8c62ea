import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { DatabaseError } from "../../../../src/index.ts";
import { PostgresServer } from "../../../support/postgres-server.ts";
import { SHOP, makeGround } from "../fixture.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

const T = "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t VALUES (1, 1);";

describe("a script whose record could not be repeated is refused, and nothing of it is kept", () => {
  it.each([
    [
      "because a rule adds rows",
      `${T} CREATE TABLE l (id int, v int);
       CREATE RULE r AS ON UPDATE TO t DO ALSO INSERT INTO l VALUES (NEW.id, NEW.v)`,
      "UPDATE t SET v = 2",
    ],
    [
      "because a value is written otherwise inside of a function",
      `${T} CREATE TABLE audit (id serial PRIMARY KEY, what regclass);
       CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql SET search_path = '' AS
         $$ BEGIN INSERT INTO public.audit (what) VALUES (TG_RELID); RETURN NULL; END $$;
       CREATE TRIGGER a AFTER UPDATE ON t FOR EACH ROW EXECUTE FUNCTION f()`,
      "UPDATE t SET v = 2",
    ],
    [
      "because a row moves to another partition and takes others along",
      `${T} CREATE TABLE p (id int, r text, PRIMARY KEY (id, r)) PARTITION BY LIST (r);
       CREATE TABLE pa PARTITION OF p FOR VALUES IN ('a'); CREATE TABLE pb PARTITION OF p FOR VALUES IN ('b');
       CREATE TABLE c (id int PRIMARY KEY, p int, r text, FOREIGN KEY (p, r) REFERENCES p ON UPDATE CASCADE ON DELETE CASCADE);
       INSERT INTO p VALUES (1, 'a'); INSERT INTO c VALUES (1, 1, 'a')`,
      "UPDATE p SET r = 'b'",
    ],
    [
      "because a rule about rows hides one",
      `${T} ALTER TABLE t ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
       CREATE POLICY r ON t FOR SELECT USING (v < 100); CREATE POLICY i ON t FOR INSERT WITH CHECK (true)`,
      "INSERT INTO t VALUES (2, 500)",
    ],
    [
      "because the number of a row is always the server's",
      `${T} CREATE TABLE i (id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v int); INSERT INTO i (v) VALUES (1)`,
      "UPDATE i SET id = DEFAULT",
    ],
    ["because a table has no columns", `${T} CREATE TABLE z ()`, "INSERT INTO z DEFAULT VALUES"],
    [
      "because a default is another one each time",
      T,
      "ALTER TABLE t ADD COLUMN u uuid DEFAULT gen_random_uuid(); UPDATE t SET v = 3",
    ],
  ])("%s", async (_, setup, script) => {
    const ground = makeGround(server, setup);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("before", "INSERT INTO t VALUES (7, 7)");
    const writing = sandbox.write("script", `INSERT INTO t VALUES (8, 8); ${script}`);
    await expect(writing).rejects.toBeInstanceOf(DatabaseError);
    await expect(writing).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "notCaptured", position: script.split(";").length + 1 },
    });
    const paths = (await sandbox.diff()).changes.map(({ path }) => path);
    expect(paths).toEqual(["public.t/7"]);
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM t WHERE id > 6")).toEqual(["7|7"]);
  });
});

it("a script is kept although somebody else changes its rows all the time", async () => {
  const ground = makeGround(server, "CREATE TABLE hits (id int PRIMARY KEY, n int)");
  ground.sql("INSERT INTO hits VALUES (1, 0)");
  await using cofferdam = await ground.open();
  const over = new AbortController();
  const others = (async () => {
    await using busy = await ground.open();
    for (let round = 0; !over.signal.aborted; round += 1) {
      const sandbox = busy.sandbox(await busy.create(`busy ${round}`, SHOP));
      await sandbox.write("hit", "UPDATE hits SET n = n + 1");
      // Of two who add to the same row, one comes too late.
      await sandbox.commit().catch(() => undefined);
    }
  })();
  for (let round = 0; round < 8; round += 1) {
    const sandbox = cofferdam.sandbox(await cofferdam.create(`plan ${round}`, SHOP));
    await sandbox.write("add", "UPDATE hits SET n = n + 1000");
    expect((await sandbox.diff()).changes).toHaveLength(1);
  }
  over.abort();
  await others;
  expect(ground.sql("SELECT n > 0 FROM hits")).toEqual(["t"]);
});

it("several sandboxes write to different rows of one table at the same time", async () => {
  const ground = makeGround(
    server,
    "CREATE TABLE t (id int PRIMARY KEY, v int); INSERT INTO t SELECT g, 0 FROM generate_series(1, 9) g",
  );
  await using cofferdam = await ground.open();
  const sandboxes = await Promise.all(
    [1, 2, 3].map(async (id) => ({
      id,
      sandbox: cofferdam.sandbox(await cofferdam.create(`plan ${id}`, SHOP)),
    })),
  );
  await Promise.all(
    sandboxes.map(async ({ id, sandbox }) => {
      for (let round = 0; round < 6; round += 1)
        await sandbox.write("add", `UPDATE t SET v = v + 1 WHERE id = ${id}`);
      await sandbox.commit();
    }),
  );
  expect(ground.sql("SELECT v FROM t ORDER BY id LIMIT 4")).toEqual(["6", "6", "6", "0"]);
});
