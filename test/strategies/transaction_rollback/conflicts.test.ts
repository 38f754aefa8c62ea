import { describe, expect, it } from "vitest";
import { type Cofferdam, SandboxConflictError, SandboxRollbackError } from "../../../src/index.ts";
import { type Ground, SHOP, makeGround, rowsOf } from "./fixture.ts";
import { SERVERS, runServer } from "./servers.ts";

const SETUP =
  "CREATE TABLE stock (id int PRIMARY KEY, amount int NOT NULL);" +
  "CREATE TABLE parts (id int PRIMARY KEY, stock int REFERENCES stock (id) ON DELETE CASCADE);" +
  "INSERT INTO stock VALUES (1, 10), (2, 20), (3, 30), (4, 40), (5, 50); INSERT INTO parts VALUES (1, 1)";

async function sandboxOf(
  cofferdam: Cofferdam,
  script: string,
): Promise<ReturnType<Cofferdam["sandbox"]>> {
  const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
  await sandbox.write("script.sql", script);
  return sandbox;
}

const everything = (ground: Ground): string[] =>
  ground.sql("SELECT * FROM stock ORDER BY id; SELECT * FROM parts ORDER BY id");

describe.each(SERVERS)("what somebody else changed on $name", (kind) => {
  const on = runServer(kind);

  it.each([
    ["a changed row", "UPDATE stock SET amount = 1 WHERE id = 2", "stock/2", "changed"],
    ["a row that is gone", "DELETE FROM stock WHERE id = 2", "stock/2", "missing"],
    ["a key that is taken", "INSERT INTO stock VALUES (9, 0)", "stock/9", "exists"],
    ["a row that a cascade would reach", "INSERT INTO parts VALUES (7, 1)", "parts", "changed"],
    ["a table that is gone", kind.drop("stock"), "stock", "missing"],
  ])("refuses a commit over %s", async (_what, foreign, path, reason) => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const script =
      "UPDATE stock SET amount = amount + 1 WHERE id = 2; INSERT INTO stock VALUES (9, 9); DELETE FROM stock WHERE id = 1";
    const sandbox = await sandboxOf(cofferdam, script);
    ground.sql(foreign);
    const committing = sandbox.commit();
    await expect(committing).rejects.toBeInstanceOf(SandboxConflictError);
    await expect(committing).rejects.toMatchObject({ code: "SANDBOX_CONFLICT" });
    const error = (await committing.catch((thrown: unknown) => thrown)) as SandboxConflictError;
    expect(error.data.originalRestored).toBe(true);
    expect(error.data.conflicts).toContainEqual(
      expect.objectContaining({ path: `${ground.schema}.${path}`, reason }),
    );
    expect(ground.prepared()).toEqual([]);
    expect((await sandbox.describe()).status).toBe("ACTIVE");
    expect((await sandbox.diff()).isEmpty).toBe(false);
  });

  it("lets rows alone that the sandbox did not touch", async () => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = await sandboxOf(cofferdam, "UPDATE stock SET amount = 0 WHERE id = 2");
    ground.sql("UPDATE stock SET amount = 7 WHERE id = 3; INSERT INTO stock VALUES (8, 8)");
    expect(
      rowsOf(await sandbox.read("SELECT amount FROM stock WHERE id IN (2, 3) ORDER BY id")),
    ).toEqual([{ amount: 0 }, { amount: 7 }]);
    await sandbox.commit();
    expect(ground.sql("SELECT amount FROM stock ORDER BY id")).toEqual([
      "10",
      "0",
      "7",
      "40",
      "50",
      "8",
    ]);
  });
});

describe.each(SERVERS)("taking a commit back on $name", (kind) => {
  const on = runServer(kind);

  it("brings every row back in one transaction (R90)", async () => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const before = everything(ground);
    const sandbox = await sandboxOf(
      cofferdam,
      "DELETE FROM stock WHERE id = 1; UPDATE stock SET amount = -id; UPDATE stock SET id = id + 100 WHERE id > 3; INSERT INTO parts VALUES (2, 104)",
    );
    await sandbox.commit();
    expect(everything(ground)).not.toEqual(before);
    await sandbox.rollback();
    expect(everything(ground)).toEqual(before);
    expect((await sandbox.describe()).status).toBe("ROLLED_BACK");
    expect(ground.prepared()).toEqual([]);
  });

  it("is refused when a row was changed since, and changes nothing (R90)", async () => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = await sandboxOf(cofferdam, "UPDATE stock SET amount = amount + 1");
    await sandbox.commit();
    ground.sql("UPDATE stock SET amount = 1000 WHERE id = 4");
    const committed = everything(ground);
    const rolling = sandbox.rollback();
    await expect(rolling).rejects.toBeInstanceOf(SandboxRollbackError);
    await expect(rolling).rejects.toMatchObject({
      code: "SANDBOX_ROLLBACK",
      data: {
        reason: "foreignEdits",
        originalRestored: false,
        paths: [`${ground.schema}.stock/4`],
      },
    });
    expect(everything(ground)).toEqual(committed);
    expect((await sandbox.describe()).status).toBe("COMMITTED");
    const plan = await cofferdam.plan("plan");
    const report = await plan.rollback();
    expect(report.succeeded).toEqual([]);
    expect(report.failed).toMatchObject({ shop: { code: "SANDBOX_ROLLBACK" } });
    expect((await sandbox.describe()).status).toBe("COMMITTED");
  });

  it("names only the rows that are not as they were committed (R90)", async () => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = await sandboxOf(cofferdam, "DELETE FROM stock WHERE id < 3");
    await sandbox.commit();
    ground.sql("INSERT INTO stock VALUES (1, 1000)");
    const committed = everything(ground);
    const rolling = sandbox.rollback();
    await expect(rolling).rejects.toBeInstanceOf(SandboxRollbackError);
    await expect(rolling).rejects.toMatchObject({
      data: { reason: "foreignEdits", paths: [`${ground.schema}.stock/1`] },
    });
    expect(everything(ground)).toEqual(committed);
    ground.sql("DELETE FROM stock WHERE id = 1");
    await sandbox.rollback();
    expect(everything(ground)).toContain("1|10");
  });
});
