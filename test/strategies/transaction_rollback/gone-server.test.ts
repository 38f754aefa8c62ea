import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type SandboxEvent, SandboxStateError } from "../../../src/index.ts";
import { PROBES } from "../../fixtures/probe/probes.ts";
import { DatabaseProxy } from "../../support/database-proxy.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { SHOP, makeGround } from "./fixture.ts";
import {
  DEATHS,
  type Mixed,
  NEW,
  OLD,
  changedPlan,
  failToApply,
  killChangedPlan,
  mixed,
} from "./mixed-plan.ts";
import { POSTGRES, type ServerKind, SERVERS, runServer } from "./servers.ts";

/** PostgreSQL as it comes: its own commit is the decision. */
const PLAIN: ServerKind = {
  ...POSTGRES,
  name: "a PostgreSQL that prepares nothing",
  start: () => PostgresServer.start({ max_prepared_transactions: 0 }),
};

describe.each([...SERVERS, PLAIN])("a server that is gone before a commit: $name", (kind) => {
  it("leaves the plan open as it was, and is asked for nothing (R17, R94)", async () => {
    await using server = await kind.start();
    const all = mixed(server);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    const { digest } = await plan.diff();
    await server.halt();
    const committing = plan.commit();
    await expect(committing).rejects.toMatchObject({
      code: "ATOMIC_COMMIT",
      data: { report: { outcome: "aborted", failedId: "shop" } },
      cause: { code: "DATABASE", data: { reason: "unreachable" } },
    });
    await expect(plan.sandbox("shop").commit()).rejects.toMatchObject({
      data: { reason: "unreachable" },
    });
    const statuses = (await cofferdam.list()).map(({ status }) => status);
    expect(statuses).toEqual(["ACTIVE", "ACTIVE"]);
    expect((await plan.diff()).digest).toBe(digest);
    expect(await cofferdam.recover()).toMatchObject({ transactions: [], complete: true });
    await server.resume();
    await plan.commit();
    expect(all.state()).toEqual(NEW);
    await server.halt();
    await expect(plan.undo()).rejects.toMatchObject({ data: { reason: "unreachable" } });
    const after = (await cofferdam.list()).map(({ status }) => status);
    expect(after).toEqual(["COMMITTED", "COMMITTED"]);
    await server.resume();
    await plan.undo();
    expect(all.state()).toEqual(OLD);
  });
});

describe.each(SERVERS)("a connection that is lost in an undo: $name", (kind) => {
  const on = runServer(kind);

  it("is told as that, and all stays committed", async () => {
    const all = mixed(on.server, on.proxy.port);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    await plan.commit();
    on.proxy.arm({ statement: kind.begin, when: "before" });
    await expect(plan.undo()).rejects.toMatchObject({
      code: "DATABASE",
      data: { reason: "unreachable" },
      hint: expect.stringContaining("stays as it was committed") as string,
    });
    expect(all.state()).toEqual(NEW);
    await plan.undo();
    expect(all.state()).toEqual(OLD);
  });

  it("leaves it to recovery when nobody answers what became of it (R94)", async () => {
    const all = mixed(on.server, on.proxy.port);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    await plan.commit();
    const act = (): void => on.proxy.refuse(true);
    on.proxy.arm({ statement: kind.prepare, when: "after", act });
    await expect(plan.undo()).rejects.toMatchObject({
      code: "SANDBOX_ROLLBACK",
      data: {
        reason: "io",
        originalRestored: false,
        undoDataAt: expect.stringContaining("/tx/") as string,
      },
      hint: expect.stringContaining("recover") as string,
    });
    expect(all.ground.prepared()).toHaveLength(1);
    on.proxy.refuse(false);
    expect(await cofferdam.recover()).toMatchObject({ complete: true });
    expect(all.ground.prepared()).toEqual([]);
    expect(all.state()).toEqual(NEW);
    await plan.undo();
    expect(all.state()).toEqual(OLD);
  });

  it("of a sandbox alone leaves it as committed, or to recovery", async () => {
    const all = mixed(on.server, on.proxy.port);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    await plan.commit();
    const shop = plan.sandbox("shop");
    on.proxy.arm({ statement: kind.begin, when: "before" });
    await expect(shop.undoCommit()).rejects.toMatchObject({ data: { reason: "unreachable" } });
    expect((await shop.describe()).status).toBe("COMMITTED");
    on.proxy.arm({ statement: kind.prepare, when: "after", act: () => on.proxy.refuse(true) });
    await expect(shop.undoCommit()).rejects.toMatchObject({ data: { reason: "io" } });
    expect((await shop.describe()).status).toBe("ERRORED");
    on.proxy.refuse(false);
    await cofferdam.recover();
    expect((await shop.describe()).status).toBe("COMMITTED");
    expect(all.state()).toEqual(NEW);
  });
});

describe("a PostgreSQL that prepares nothing and is gone before the undo of a sandbox alone", () => {
  it("is asked for nothing, and recovery takes nothing back", async () => {
    await using server = await PLAIN.start();
    const all = mixed(server);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    await plan.commit();
    const shop = plan.sandbox("shop");
    await server.halt();
    await expect(shop.undoCommit()).rejects.toMatchObject({
      code: "SANDBOX_ROLLBACK",
      cause: { data: { reason: "unreachable" } },
    });
    expect((await shop.describe()).status).toBe("COMMITTED");
    await server.resume();
    expect(await cofferdam.recover()).toMatchObject({ transactions: [], complete: true });
    expect(all.state()).toEqual(NEW);
    await plan.undo();
    expect(all.state()).toEqual(OLD);
  });
});

/** Runs what somebody was told who gave a plan up. */
function endAsTold(kind: ServerKind, { ground }: Mixed, events: readonly SandboxEvent[]): void {
  const left = events.filter(({ name }) => name === "sandbox.transactionsLeft");
  const [{ statements }] = left.map(({ data }) => data) as [{ statements: readonly string[] }];
  for (const statement of statements)
    ground.server.sql(kind.name === "MariaDB" ? "mysql" : ground.database.name, statement);
}

describe.each(SERVERS)("a server that is gone for good: $name", (kind) => {
  it.each(DEATHS)(
    "after %s, %s: by force the plan is given up, and how it ends there is told",
    async (...death) => {
      const [call, event, expected] = death;
      await using server = await kind.start();
      const all = mixed(server);
      await killChangedPlan(all, call, event);
      const [prepared = ""] = server.prepared();
      await server.halt();
      {
        await using cofferdam = await all.ground.open();
        const { failed } = await (await cofferdam.plan("plan")).cleanup({ force: true });
        expect(failed["shop"]?.hint).toContain("main out of the configuration");
      }
      writeFileSync(all.ground.config, "connections: {}\n");
      const events: SandboxEvent[] = [];
      await using cofferdam = await all.ground.open({ onEvent: (event) => events.push(event) });
      const plan = await cofferdam.plan("plan");
      // What it has cannot be told, which is not the same as nothing.
      await expect(plan.diff()).rejects.toBeInstanceOf(SandboxStateError);
      expect(Object.keys((await plan.cleanup()).failed)).toEqual(["shop"]);
      const report = await plan.cleanup({ force: true });
      expect(report).toMatchObject({ failed: {} });
      expect(await cofferdam.list()).toEqual([]);
      expect(await cofferdam.recover()).toMatchObject({ transactions: [], complete: true });
      await server.resume();
      expect(server.prepared()).toEqual([prepared]);
      endAsTold(kind, all, events);
      expect(server.prepared()).toEqual([]);
      expect(all.state()).toEqual(expected);
    },
  );

  it("after a way back that was cut: what takes the commit back is what has to be committed there", async () => {
    await using server = await kind.start();
    await using proxy = await DatabaseProxy.start(server);
    const all = mixed(server, proxy.port);
    {
      await using cofferdam = await all.ground.open({ strategies: PROBES });
      const plan = await changedPlan(cofferdam, all, "database first", "two-phase");
      await failToApply(plan);
      // What goes forward is prepared first.
      proxy.arm({ statement: kind.prepare, passing: 1, when: "after" });
      const committing = plan.commit();
      await expect(committing).rejects.toMatchObject({ data: { report: { outcome: "in-doubt" } } });
    }
    expect(all.state()).toEqual({ row: NEW.row, file: OLD.file });
    writeFileSync(all.ground.config, "connections: {}\n");
    const events: SandboxEvent[] = [];
    const onEvent = (event: SandboxEvent): number => events.push(event);
    await using cofferdam = await all.ground.open({ strategies: PROBES, onEvent });
    expect(await (await cofferdam.plan("plan")).cleanup({ force: true })).toMatchObject({
      failed: {},
    });
    expect(server.prepared()).toHaveLength(1);
    endAsTold(kind, all, events);
    expect(server.prepared()).toEqual([]);
    expect(all.state()).toEqual(OLD);
  });

  it("keeps nobody from cleaning up a plan that never asked it", async () => {
    await using server = await kind.start();
    const ground = makeGround(server, "CREATE TABLE jobs (id int PRIMARY KEY)");
    await using cofferdam = await ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("w", "INSERT INTO jobs VALUES (1)");
    await server.halt();
    await sandbox.cleanup();
    expect(await cofferdam.list()).toEqual([]);
  });
});
