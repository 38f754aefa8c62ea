import { describe, expect, it } from "vitest";
import { SandboxCreationError } from "../../../../src/index.ts";
import { Connection } from "../../../../src/strategies/transaction_rollback/connection.ts";
import { MariadbEngine } from "../../../../src/strategies/transaction_rollback/mariadb/engine.ts";
import type { LoggedWrite } from "../../../../src/strategies/transaction_rollback/log-entry.ts";
import type { TestDatabase } from "../../../support/database-server.ts";
import { MariadbServer } from "../../../support/mariadb-server.ts";
import { SHOP, makeGround } from "../fixture.ts";
import { MARIADB, runServer } from "../servers.ts";

const on = runServer(MARIADB);

const SETUP =
  "CREATE TABLE jobs (id int PRIMARY KEY, state text); INSERT INTO jobs VALUES (1, 'old')";
const NAME = "coffer1:0123456789abcdef:01m7gn2z9gtj3vvx3q0dyy8mmy:0";

function engineOf({ url }: TestDatabase): MariadbEngine {
  return new MariadbEngine(new Connection("main", { url, passwordFile: null }), null);
}

async function logOf(engine: MariadbEngine): Promise<readonly LoggedWrite[]> {
  const recorded = await engine.record([], "UPDATE jobs SET state = 'new'");
  return [{ name: "job", at: "", ...recorded }];
}

describe("a transaction that stands prepared", () => {
  it.each([
    ["COMMIT", "1|new"],
    ["ROLLBACK", "1|old"],
  ] as const)(
    "is settled by another process, with %s, although its owner is there and does nothing",
    async (decision, row) => {
      const ground = makeGround(on.server, SETUP);
      const [owner, other] = [engineOf(ground.database), engineOf(ground.database)];
      await owner.prepare(await logOf(owner), "forward", NAME);
      expect(on.server.connections()).toHaveLength(1);
      expect(await other.isPrepared(NAME)).toBe(true);
      expect(await other.settle(NAME, decision)).toBe(true);
      expect(ground.sql("SELECT * FROM jobs")).toEqual([row]);
      expect(ground.prepared()).toEqual([]);
      expect(await owner.isPrepared(NAME)).toBe(false);
      expect(await owner.settle(NAME, decision)).toBe(false);
      await expect.poll(() => on.server.connections()).toEqual([]);
    },
  );

  it("is told from the one that takes it back, and from those of longer names", async () => {
    const ground = makeGround(on.server, SETUP);
    const engine = engineOf(ground.database);
    const long = `coffer1:${"x".repeat(80)}:3`;
    const log = await logOf(engine);
    await engine.prepare(log, "forward", long);
    expect(await engine.isPrepared(`${long}:back`)).toBe(false);
    expect(await engine.isPrepared(NAME)).toBe(false);
    expect(await engine.isPrepared(long)).toBe(true);
    await engine.settle(long, "COMMIT");
    await engine.prepare(log, "backward", `${long}:back`);
    await engine.settle(`${long}:back`, "COMMIT");
    expect(ground.sql("SELECT * FROM jobs")).toEqual(["1|old"]);
  });

  it("keeps others from its rows, which is told as a conflict with their paths", async () => {
    const ground = makeGround(on.server, SETUP);
    const engine = engineOf(ground.database);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("job", "UPDATE jobs SET state = 'other'");
    await engine.prepare(await logOf(engine), "forward", NAME);
    await expect(sandbox.commit()).rejects.toMatchObject({
      code: "SANDBOX_CONFLICT",
      data: { conflicts: [{ path: `${ground.schema}.jobs/1`, reason: "locked" }] },
      hint: expect.stringContaining("Try again") as string,
    });
    await engine.settle(NAME, "ROLLBACK");
    await sandbox.commit();
    expect(ground.sql("SELECT * FROM jobs")).toEqual(["1|other"]);
  }, 60_000);
});

describe("a server of MariaDB", () => {
  it("is known again after a restart, and told from its other databases and other servers", async () => {
    const { database } = makeGround(on.server, SETUP);
    const facts = await engineOf(database).inspect();
    expect(facts).toMatchObject({ engine: "mariadb", database: database.name, canPrepare: true });
    await on.server.halt("fast");
    await on.server.resume();
    expect((await engineOf(database).inspect()).identity).toBe(facts.identity);
    const second = on.server.createDatabase();
    expect((await engineOf(second).inspect()).identity).not.toBe(facts.identity);
    const mysql = { ...database, url: database.url.replace("mariadb:", "mysql:") };
    expect((await engineOf(mysql).inspect()).identity).toBe(facts.identity);
  });

  it.each([
    ["is read-only", "SET GLOBAL read_only = 1", "SET GLOBAL read_only = 0"],
    ["has other quotes", "SET GLOBAL sql_mode = 'ANSI_QUOTES'", "SET GLOBAL sql_mode = DEFAULT"],
  ])("that %s makes no sandbox", async (_why, spoil, mend) => {
    const ground = makeGround(on.server, SETUP);
    await using cofferdam = await ground.open();
    on.server.sql("mysql", spoil);
    const creating = cofferdam.create("plan", SHOP);
    await expect(creating).rejects.toBeInstanceOf(SandboxCreationError);
    await expect(creating).rejects.toMatchObject({
      code: "SANDBOX_CREATION",
      data: { stage: "server" },
    });
    on.server.sql("mysql", mend);
    await cofferdam.create("plan", SHOP);
  });

  it("that does not tell its user what changed makes no sandbox", async () => {
    const ground = makeGround(on.server, SETUP);
    on.server.sql("mysql", `REVOKE PROCESS ON *.* FROM ${ground.database.role}@'127.0.0.1'`);
    await using cofferdam = await ground.open();
    await expect(cofferdam.create("plan", SHOP)).rejects.toMatchObject({
      code: "SANDBOX_CREATION",
      data: { stage: "server" },
    });
  });

  it("with a binary log commits, and is told from one without", async () => {
    await using other = await MariadbServer.start(
      "--log-bin=binary",
      "--sync-binlog=1",
      "--binlog-format=STATEMENT",
    );
    const ground = makeGround(other, SETUP);
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write(
      "job",
      "UPDATE jobs SET state = 'new'; INSERT INTO jobs VALUES (2, 'more')",
    );
    await sandbox.commit();
    await other.halt("immediate");
    await other.resume();
    expect(ground.sql("SELECT * FROM jobs ORDER BY id")).toEqual(["1|new", "2|more"]);
    expect(other.prepared()).toEqual([]);
    const twin = on.server.createDatabase();
    const [here, there] = [
      await engineOf(twin).inspect(),
      await engineOf(ground.database).inspect(),
    ];
    expect(here.identity).not.toBe(there.identity);
  });
});

describe("what a server computes from moments in its own time zone", () => {
  it.each(["PRIMARY KEY (id)", "KEY (id)", "PRIMARY KEY (at)"])(
    "is the same after a commit, with %s (R96)",
    async (key) => {
      await using server = await MARIADB.start();
      server.sql("mysql", "SET GLOBAL time_zone = '+02:00'");
      const ground = makeGround(
        server,
        `CREATE TABLE visits (id int NOT NULL, at timestamp(3) NOT NULL DEFAULT '2020-01-01 00:00:00', seen timestamp NULL,
           day date AS (DATE(at)) STORED, hour int AS (HOUR(at)) VIRTUAL, KEY (hour), ${key});
         INSERT INTO visits (id, at) VALUES (1, '2024-03-10 00:30:00.25'), (2, '2024-03-10 23:59:59')`,
      );
      const rows = (): string[] => ground.sql("SELECT * FROM visits ORDER BY id");
      const before = rows();
      expect(before[0]).toBe("1|2024-03-10 00:30:00.250|NULL|2024-03-10|0");
      await using cofferdam = await ground.open();
      const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
      await sandbox.write(
        "w",
        `INSERT INTO visits (id, at, seen) VALUES (3, '2024-07-01 01:15:00.125', '2024-07-01 01:16:00');
         UPDATE visits SET at = '2024-03-11 00:10:00' WHERE id = 1; DELETE FROM visits WHERE id = 2`,
      );
      await sandbox.commit();
      expect(rows()).toEqual([
        "1|2024-03-11 00:10:00.000|NULL|2024-03-11|0",
        "3|2024-07-01 01:15:00.125|2024-07-01 01:16:00|2024-07-01|1",
      ]);
      await sandbox.undoCommit();
      expect(rows()).toEqual(before);
    },
  );
});

/** A zone in which clocks are put forward, and seven months later back by an hour. */
const ZONE = `INSERT INTO time_zone (Time_zone_id, Use_leap_seconds) VALUES (1, 'N');
  INSERT INTO time_zone_name VALUES ('Test/Summer', 1);
  INSERT INTO time_zone_transition_type VALUES (1, 0, 3600, 0, 'CET'), (1, 1, 7200, 1, 'CEST');
  INSERT INTO time_zone_transition VALUES (1, 1711846800, 1), (1, 1729990800, 0);
  SET GLOBAL time_zone = 'Test/Summer'`;

describe.each(["PRIMARY KEY (id)", "KEY (id)"])(
  "a moment in an hour that a server's clocks pass twice, beside computed columns and %s",
  (key) => {
    it("is refused where it would become the other one, and else kept exactly (R96)", async () => {
      await using server = await MARIADB.start();
      server.sql("mysql", ZONE);
      const ground = makeGround(
        server,
        `SET time_zone = '+00:00';
         CREATE TABLE visits (id int NOT NULL, at timestamp(1) NULL, hour int AS (HOUR(at)) VIRTUAL, ${key});
         INSERT INTO visits (id, at) VALUES (1, '2024-10-27 00:30:00.5'), (2, '2024-10-27 01:30:00.5'), (3, NULL)`,
      );
      const rows = (): string[] =>
        ground.sql("SELECT id, UNIX_TIMESTAMP(at) FROM visits ORDER BY id");
      const before = rows();
      expect(before).toEqual(["1|1729989000.5", "2|1729992600.5", "3|NULL"]);
      await using cofferdam = await ground.open();
      const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
      for (const statement of [
        "DELETE FROM visits WHERE id = 2",
        "UPDATE visits SET at = NULL WHERE id = 2",
        "INSERT INTO visits (id, at) SELECT 4, at FROM visits WHERE id = 2",
      ])
        await expect(sandbox.write("w", statement)).rejects.toMatchObject({
          code: "DATABASE",
          data: { reason: "notCaptured", position: 1 },
        });
      await sandbox.write("w", "DELETE FROM visits WHERE id <> 2");
      await sandbox.commit();
      expect(rows()).toEqual(["2|1729992600.5"]);
      await sandbox.undoCommit();
      expect(rows()).toEqual(before);
    });
  },
);
