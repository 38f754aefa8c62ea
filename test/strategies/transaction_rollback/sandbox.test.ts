import { describe, expect, it } from "vitest";
import { SandboxStateError } from "../../../src/index.ts";
import { SHOP, makeGround, rowsOf } from "./fixture.ts";
import { SERVERS, runServer } from "./servers.ts";

const ACCOUNTS =
  "CREATE TABLE accounts (id int PRIMARY KEY, owner text NOT NULL, balance numeric(10, 2) NOT NULL);" +
  "INSERT INTO accounts VALUES (1, 'ada', 100.50), (2, 'ben', 20.00);";

describe.each(SERVERS)("a sandbox of a database on $name", (kind) => {
  const on = runServer(kind);

  it("shows its rows to itself only, in this process and in another (R87)", async () => {
    const ground = makeGround(on.server, ACCOUNTS);
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
    expect(on.server.locks(ground.database)).toEqual([]);
    await other.close();
    await cofferdam.close();
    await expect.poll(() => on.server.connections()).toEqual([]);
  });

  it("commits durably and tells what it changed (R89)", async () => {
    const ground = makeGround(on.server, ACCOUNTS);
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    const sandbox = cofferdam.sandbox(ref);
    await sandbox.write(
      "move.sql",
      "UPDATE accounts SET balance = balance - 10 WHERE id = 1; DELETE FROM accounts WHERE id = 2; INSERT INTO accounts VALUES (9, 'dan', 1.25)",
    );
    expect(await sandbox.commit()).toMatchObject({
      success: true,
      changed: [`${ground.schema}.accounts/1`],
      deleted: [`${ground.schema}.accounts/2`],
      added: [`${ground.schema}.accounts/9`],
    });
    const rows = ["1|ada|90.50", "9|dan|1.25"];
    expect(ground.sql("SELECT * FROM accounts ORDER BY id")).toEqual(rows);
    expect(ground.prepared()).toEqual([]);
    await on.server.halt("immediate");
    await on.server.resume();
    expect(ground.sql("SELECT * FROM accounts ORDER BY id")).toEqual(rows);
  });

  it("is rolled back without a trace, and cannot be before it exists (R88)", async () => {
    const ground = makeGround(on.server, ACCOUNTS);
    await using cofferdam = await ground.open();
    const ref = await cofferdam.create("plan", SHOP);
    const sandbox = cofferdam.sandbox(ref);
    const checksum =
      "SELECT md5(concat(min(owner), max(owner), sum(balance), count(*))) FROM accounts";
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
