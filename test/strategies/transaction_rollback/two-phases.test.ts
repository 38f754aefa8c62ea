import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { AtomicCommitError } from "../../../src/index.ts";
import { rowsOf } from "./fixture.ts";
import {
  DEATHS,
  NEW,
  OLD,
  changedPlan,
  expectTrueOutcome,
  killChangedPlan,
  mixed,
  startCommit,
} from "./mixed-plan.ts";
import { SERVERS, runServer } from "./servers.ts";

describe.each(SERVERS)("a plan with a directory and a database on $name", (kind) => {
  const on = runServer(kind);

  it.each(["database first", "folder first"] as const)(
    "publishes both, or neither when one fails, %s (R92)",
    async (order) => {
      const all = mixed(on.server, on.proxy.port);
      await using cofferdam = await all.ground.open();
      const plan = await changedPlan(cofferdam, all, order);
      expect((await plan.describe()).promise.level).toBe("atomic");
      writeFileSync(join(all.folder, "page"), "foreign\n");
      const first = plan.commit();
      await expect(first).rejects.toBeInstanceOf(AtomicCommitError);
      await expect(first).rejects.toMatchObject({
        data: { report: { outcome: "aborted", failedId: "site" } },
      });
      expect(all.state()).toEqual({ row: OLD.row, file: "foreign\n" });
      expect(all.ground.prepared()).toEqual([]);
      writeFileSync(join(all.folder, "page"), OLD.file);
      all.ground.sql("UPDATE jobs SET state = 'foreign'");
      await expect(plan.sandbox("site").rollback()).resolves.toBeUndefined();
      await plan.sandbox("site").write("page", NEW.file);
      const second = plan.commit();
      await expect(second).rejects.toMatchObject({
        data: { report: { outcome: "aborted", failedId: "shop" } },
      });
      expect(all.state()).toEqual({ row: ["1|foreign"], file: OLD.file });
      all.ground.sql("UPDATE jobs SET state = 'old'");
      expect((await plan.commit()).outcome).toBe("committed");
      expect(all.state()).toEqual(NEW);
      expect(all.ground.prepared()).toEqual([]);
      await plan.undo();
      expect(all.state()).toEqual(OLD);
    },
  );

  it("goes back to a checkpoint in both", async () => {
    const all = mixed(on.server, on.proxy.port);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    await plan.checkpoint("good");
    await plan.sandbox("shop").write("worse.sql", "DELETE FROM jobs");
    await plan.sandbox("site").write("page", "worse\n");
    await plan.restoreCheckpoint("good");
    expect(rowsOf(await plan.sandbox("shop").read("SELECT state FROM jobs"))).toEqual([
      { state: "new" },
    ]);
    await plan.commit();
    expect(all.state()).toEqual(NEW);
  });
});

describe.each(SERVERS)("a process that is killed on $name", (kind) => {
  const on = runServer(kind);

  it.each(DEATHS)(
    "in %s at %s leaves what recovery settles (R92, R223)",
    async (call, event, expected) => {
      const all = mixed(on.server, on.proxy.port);
      const { ground } = all;
      await killChangedPlan(all, call, event);
      expect(ground.prepared()).toHaveLength(1);
      await on.server.halt("immediate");
      await on.server.resume();
      expect(ground.prepared()).toHaveLength(1);
      await using cofferdam = await ground.open();
      expect(cofferdam.opening.recovery?.transactions).toHaveLength(1);
      expect(all.state()).toEqual(expected);
      expect(ground.prepared()).toEqual([]);
      expect((await cofferdam.list()).map(({ status }) => status)).not.toContain("ERRORED");
      expect(await cofferdam.interrupted()).toMatchObject({ transactions: [], sandboxes: [] });
    },
  );

  it.each([
    ["after", "prepare", OLD],
    ["before", "commit", NEW],
    ["after", "commit", NEW],
  ] as const)(
    "%s %s leaves nothing open after recovery (R223)",
    async (when, statement, expected) => {
      const all = mixed(on.server, on.proxy.port);
      const { ground } = all;
      const child = await startCommit(all);
      on.proxy.arm({ statement: kind[statement], when, act: () => child.process.kill("SIGKILL") });
      expect((await child.result).signal).toBe("SIGKILL");
      await using cofferdam = await ground.open();
      expect(all.state()).toEqual(expected);
      expect(ground.prepared()).toEqual([]);
      expect((await cofferdam.list()).map(({ status }) => status)).not.toContain("ERRORED");
    },
  );
});

describe.each(SERVERS)("a connection that is cut on $name", (kind) => {
  const on = runServer(kind);

  it.each([
    ["before", "prepare", OLD],
    ["after", "prepare", OLD],
    ["before", "commit", NEW],
    ["after", "commit", NEW],
  ] as const)("%s %s tells the true outcome (R94)", async (when, statement, expected) => {
    const all = mixed(on.server, on.proxy.port);
    await expectTrueOutcome(all, on.proxy, { statement: kind[statement], when }, expected);
  });

  it("by the server before a commit is a typed error, and the edits stay (R94)", async () => {
    const all = mixed(on.server, on.proxy.port);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all);
    on.proxy.arm({
      statement: kind.begin,
      when: "before",
      act: () => on.server.cutConnections(),
    });
    const committing = plan.sandbox("shop").commit();
    await expect(committing).rejects.toMatchObject({
      code: "SANDBOX_COMMIT",
      data: { originalRestored: true },
    });
    expect(all.ground.prepared()).toEqual([]);
    expect((await plan.sandbox("shop").describe()).status).toBe("ACTIVE");
    await plan.commit();
    expect(all.state()).toEqual(NEW);
  });
});
