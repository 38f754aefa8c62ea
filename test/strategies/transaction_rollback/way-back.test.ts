import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { AtomicCommitError } from "../../../src/index.ts";
import { PROBES } from "../../fixtures/probe/probes.ts";
import { NEW, OLD, changedPlan, failToApply, mixed } from "./mixed-plan.ts";
import { SERVERS, runServer } from "./servers.ts";

describe.each(SERVERS)("a failure after the decision on $name", (kind) => {
  const on = runServer(kind);

  it("takes a database back that was committed already", async () => {
    const all = mixed(on.server);
    await using cofferdam = await all.ground.open({ strategies: PROBES });
    const plan = await changedPlan(cofferdam, all, "database first", "two-phase");
    const marker = await failToApply(plan);
    const committing = plan.commit();
    await expect(committing).rejects.toBeInstanceOf(AtomicCommitError);
    await expect(committing).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: "site", rolledBack: ["site", "shop"] } },
    });
    expect(all.state()).toEqual(OLD);
    expect(all.ground.prepared()).toEqual([]);
    rmSync(marker);
    await plan.commit();
    expect(all.state()).toEqual(NEW);
    await plan.undo();
    expect(all.state()).toEqual(OLD);
  });

  it("is finished by recovery when the way back is cut", async () => {
    const all = mixed(on.server, on.proxy.port);
    await using cofferdam = await all.ground.open({ strategies: PROBES });
    const plan = await changedPlan(cofferdam, all, "database first", "two-phase");
    const marker = await failToApply(plan);
    on.proxy.arm({ statement: ":back'", when: "before" });
    await expect(plan.commit()).rejects.toMatchObject({
      data: { report: { outcome: "in-doubt" } },
    });
    expect(all.state()).toEqual({ row: NEW.row, file: OLD.file });
    await cofferdam.recover();
    expect(all.state()).toEqual(OLD);
    expect(all.ground.prepared()).toEqual([]);
    rmSync(marker);
    await plan.commit();
    expect(all.state()).toEqual(NEW);
  });

  it("of the database itself takes the directory back, and what stood prepared", async () => {
    const all = mixed(on.server, on.proxy.port);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all, "folder first");
    const fired = on.proxy.fired;
    const cut = { statement: kind.commit, when: "before" } as const;
    on.proxy.arm({ ...cut, act: () => on.proxy.arm(cut) });
    await expect(plan.commit()).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: "shop" } },
    });
    expect(on.proxy.fired).toBe(fired + 2);
    expect(all.state()).toEqual(OLD);
    expect(all.ground.prepared()).toEqual([]);
    await plan.commit();
    expect(all.state()).toEqual(NEW);
  });

  it.each(["plan.prepared", "plan.decided"])(
    "is told when somebody else settled at %s what stood prepared, and nothing stays (R94)",
    async (moment) => {
      const all = mixed(on.server);
      const settle = (): void => {
        const [name = ""] = all.ground.prepared();
        on.server.settlePrepared(all.ground.database, name, "ROLLBACK");
      };
      await using cofferdam = await all.ground.open({
        onEvent: ({ name }) => {
          if (name === moment) settle();
        },
      });
      const plan = await changedPlan(cofferdam, all);
      await expect(plan.commit()).rejects.toMatchObject({
        data: { report: { outcome: "aborted", failedId: "shop" } },
      });
      expect(all.state()).toEqual(OLD);
      expect(all.ground.prepared()).toEqual([]);
      expect(await cofferdam.recover()).toMatchObject({ transactions: [], complete: true });
    },
  );
});
