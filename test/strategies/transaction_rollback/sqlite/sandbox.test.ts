import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  SandboxConflictError,
  SandboxRollbackError,
  SandboxStateError,
} from "../../../../src/index.ts";
import { holdingProcess, succeedsAtOnce } from "./foreign.ts";
import { makeFiles, rowsOf } from "./ground.ts";

const ACCOUNTS =
  "CREATE TABLE accounts (id INTEGER PRIMARY KEY, owner TEXT NOT NULL, balance REAL);" +
  "INSERT INTO accounts VALUES (1, 'ada', 100.5), (2, 'ben', 20)";
const ALL = "SELECT * FROM accounts ORDER BY id";

describe.each(["DELETE", "WAL"])("a sandbox of a SQLite database in the mode %s", (mode) => {
  const ground = (): ReturnType<typeof makeFiles> =>
    makeFiles({ shop: `PRAGMA journal_mode = ${mode};; ${ACCOUNTS}` });

  it("shows its rows to itself only, in this process and in another (R87)", async () => {
    const files = ground();
    await using cofferdam = await files.open();
    const ref = await files.ref(cofferdam);
    await cofferdam.sandbox(ref).write("add", "INSERT INTO accounts VALUES (3, 'cyd', 7)");
    const query = "SELECT id FROM accounts ORDER BY id";
    const seen = [{ id: 1 }, { id: 2 }, { id: 3 }];
    expect(rowsOf(await cofferdam.sandbox(ref).read(query))).toEqual(seen);
    await using other = await files.open();
    expect(rowsOf(await other.sandbox(ref).read(query))).toEqual(seen);
    expect(files.sql("shop", query)).toEqual(["1", "2"]);
  });

  it("commits, tells what it changed, and takes it back (R90)", async () => {
    const files = ground();
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    const before = files.sql("shop", ALL);
    await sandbox.write(
      "move",
      "UPDATE accounts SET balance = balance - 10 WHERE id = 1; DELETE FROM accounts WHERE id = 2; INSERT INTO accounts VALUES (9, 'dan', 1)",
    );
    expect(await sandbox.commit()).toMatchObject({
      success: true,
      changed: ["main.accounts/1"],
      deleted: ["main.accounts/2"],
      added: ["main.accounts/9"],
    });
    expect(files.sql("shop", ALL)).toEqual(["1|ada|90.5", "9|dan|1"]);
    await sandbox.rollback();
    expect(files.sql("shop", ALL)).toEqual(before);
    expect((await sandbox.describe()).status).toBe("ROLLED_BACK");
    expect(files.sql("shop", "SELECT name FROM sqlite_schema")).toEqual(["accounts"]);
  });

  it("refuses to take a commit back over a foreign update, and changes nothing (R90)", async () => {
    const files = ground();
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("all", "UPDATE accounts SET balance = 0");
    await sandbox.commit();
    files.sql("shop", "UPDATE accounts SET owner = 'eve' WHERE id = 2");
    const rolling = sandbox.rollback();
    await expect(rolling).rejects.toBeInstanceOf(SandboxRollbackError);
    await expect(rolling).rejects.toMatchObject({
      code: "SANDBOX_ROLLBACK",
      data: { reason: "foreignEdits", originalRestored: false, paths: ["main.accounts/2"] },
    });
    expect(files.sql("shop", ALL)).toEqual(["1|ada|0", "2|eve|0"]);
    expect((await sandbox.describe()).status).toBe("COMMITTED");
  });

  it("is rolled back without a trace, and cannot be before it exists (R88)", async () => {
    const files = ground();
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    const before = files.sql("shop", ALL);
    await sandbox.write("go", "DELETE FROM accounts");
    await sandbox.rollback();
    expect(files.sql("shop", ALL)).toEqual(before);
    expect((await sandbox.diff()).isEmpty).toBe(true);
    await sandbox.cleanup();
    const late = sandbox.rollback();
    await expect(late).rejects.toBeInstanceOf(SandboxStateError);
    await expect(late).rejects.toMatchObject({ code: "SANDBOX_STATE" });
  });

  it("lets another writer succeed at once after its cleanup, and leaves no file (R97)", async () => {
    const files = ground();
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("all", "UPDATE accounts SET balance = 0");
    await sandbox.read("SELECT 1 AS one");
    await sandbox.cleanup();
    const write = "BEGIN EXCLUSIVE; UPDATE accounts SET balance = -1; COMMIT";
    expect(await succeedsAtOnce(files.path("shop"), write)).toBe(true);
    expect(readdirSync(files.folder).filter((name) => name.startsWith("shop"))).toEqual([
      "shop.db",
    ]);
    expect(readdirSync(join(files.stateDirectory, "databases"))).toEqual([]);
  });

  it("gives up cleanly when another program holds the database, and commits later", async () => {
    const files = ground();
    await using cofferdam = await files.open();
    const sandbox = await files.sandbox(cofferdam);
    await sandbox.write("all", "UPDATE accounts SET balance = 0");
    const before = files.sql("shop", ALL);
    const end = await holdingProcess(files.path("shop"), "BEGIN IMMEDIATE");
    const committing = sandbox.commit();
    await expect(committing).rejects.toBeInstanceOf(SandboxConflictError);
    await expect(committing).rejects.toMatchObject({
      code: "SANDBOX_CONFLICT",
      data: { originalRestored: true, conflicts: [{ reason: "locked" }] },
      hint: expect.stringContaining("Try again") as string,
    });
    await end();
    expect(files.sql("shop", ALL)).toEqual(before);
    expect((await sandbox.describe()).status).toBe("ACTIVE");
    await sandbox.commit();
    expect(files.sql("shop", ALL)).toEqual(["1|ada|0", "2|ben|0"]);
  });
});

it("a reader in a transaction makes a commit of a SQLite database fail cleanly", async () => {
  const files = makeFiles({ shop: ACCOUNTS });
  await using cofferdam = await files.open();
  const sandbox = await files.sandbox(cofferdam);
  await sandbox.write("all", "UPDATE accounts SET balance = 0");
  const end = await holdingProcess(files.path("shop"), "BEGIN; SELECT * FROM accounts");
  await expect(sandbox.commit()).rejects.toMatchObject({
    code: "SANDBOX_CONFLICT",
    data: { originalRestored: true, conflicts: [{ reason: "locked" }] },
  });
  expect(files.sql("shop", ALL)).toEqual(["1|ada|100.5", "2|ben|20"]);
  await end();
  await sandbox.commit();
  expect(files.sql("shop", ALL)).toEqual(["1|ada|0", "2|ben|0"]);
  expect(readdirSync(files.folder).filter((name) => name.startsWith("shop"))).toEqual(["shop.db"]);
});
