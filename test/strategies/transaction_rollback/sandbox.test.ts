import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SandboxStateError } from "../../../src/index.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { SHOP, makeGround, rowsOf } from "./fixture.ts";

const ACCOUNTS =
  "CREATE TABLE accounts (id int PRIMARY KEY, owner text NOT NULL, balance numeric NOT NULL);" +
  "INSERT INTO accounts VALUES (1, 'ada', 100.50), (2, 'ben', 20);";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

describe("a sandbox of a database", () => {
  it("shows its rows to itself only, in this process and in another (R87)", async () => {
    const ground = makeGround(server, ACCOUNTS);
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    const sandbox = cofferdam.sandbox(ref);
    await sandbox.write("add.sql", "INSERT INTO accounts VALUES (3, 'cyd', 7)");
    const query = "SELECT id FROM accounts ORDER BY id";
    expect(rowsOf(await sandbox.read(query))).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    expect(ground.sql("SELECT count(*) FROM accounts")).toEqual(["2"]);
    await using other = await ground.open();
    expect(rowsOf(await other.sandbox(ref).read(query))).toEqual([{ id: 1 }, { id: 2 }, { id: 3 }]);
    expect(ground.sql("SELECT count(*) FROM accounts")).toEqual(["2"]);
    const sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name ~ 'cofferdam'";
    expect(server.sql("postgres", sessions)).toEqual(["0"]);
  });

  it("commits durably and tells what it changed (R89)", async () => {
    const ground = makeGround(server, ACCOUNTS);
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    const sandbox = cofferdam.sandbox(ref);
    await sandbox.write(
      "move.sql",
      "UPDATE accounts SET balance = balance - 10 WHERE id = 1; DELETE FROM accounts WHERE id = 2; INSERT INTO accounts VALUES (9, 'dan', 1)",
    );
    expect(await sandbox.commit()).toMatchObject({
      success: true,
      changed: ["public.accounts/1"],
      deleted: ["public.accounts/2"],
      added: ["public.accounts/9"],
    });
    const rows = ["1|ada|90.50", "9|dan|1"];
    expect(ground.sql("SELECT * FROM accounts ORDER BY id")).toEqual(rows);
    expect(ground.prepared()).toEqual([]);
    await server.halt("immediate");
    await server.resume();
    expect(ground.sql("SELECT * FROM accounts ORDER BY id")).toEqual(rows);
  });

  it("is rolled back without a trace, and cannot be before it exists (R88)", async () => {
    const ground = makeGround(server, ACCOUNTS);
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    const sandbox = cofferdam.sandbox(ref);
    const checksum = "SELECT md5(string_agg(a::text, ',' ORDER BY id)) FROM accounts a";
    const before = ground.sql(checksum);
    await sandbox.write("go.sql", "DELETE FROM accounts");
    await sandbox.rollback();
    expect(ground.sql(checksum)).toEqual(before);
    expect((await sandbox.diff()).isEmpty).toBe(true);
    await cofferdam.sandbox(ref).cleanup();
    const late = sandbox.rollback();
    await expect(late).rejects.toBeInstanceOf(SandboxStateError);
    await expect(late).rejects.toMatchObject({ code: "SANDBOX_STATE" });
  });
});
