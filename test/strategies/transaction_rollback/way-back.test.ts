import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AtomicCommitError, type Plan } from "../../../src/index.ts";
import { markerName } from "../../fixtures/probe/marker.ts";
import { PROBES } from "../../fixtures/probe/probes.ts";
import { PostgresProxy } from "../../support/postgres-proxy.ts";
import { PostgresServer } from "../../support/postgres-server.ts";
import { NEW, OLD, changedPlan, mixed } from "./mixed-plan.ts";

let server: PostgresServer;
let proxy: PostgresProxy;
beforeAll(async () => {
  server = await PostgresServer.start();
  proxy = await PostgresProxy.start(server.port);
});
afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

/** Makes the directory fail when it is published, after the decision. */
async function failToApply(plan: Plan): Promise<string> {
  const marker = join(await plan.sandbox("site").getPath(), markerName("apply"));
  writeFileSync(marker, "error");
  return marker;
}

describe("a failure after the decision", () => {
  it("takes a database back that was committed already", async () => {
    const all = mixed(server);
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
    const all = mixed(server, proxy.port);
    await using cofferdam = await all.ground.open({ strategies: PROBES });
    const plan = await changedPlan(cofferdam, all, "database first", "two-phase");
    const marker = await failToApply(plan);
    proxy.arm({ statement: ":back'", when: "before" });
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
    const all = mixed(server, proxy.port);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all, "folder first");
    const fired = proxy.fired;
    const cut = { statement: "COMMIT PREPARED", when: "before" } as const;
    proxy.arm({ ...cut, act: () => proxy.arm(cut) });
    await expect(plan.commit()).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: "shop" } },
    });
    expect(proxy.fired).toBe(fired + 2);
    expect(all.state()).toEqual(OLD);
    expect(all.ground.prepared()).toEqual([]);
    await plan.commit();
    expect(all.state()).toEqual(NEW);
  });

  it("is told when somebody else settled what stood prepared", async () => {
    const all = mixed(server);
    const settle = (): void => {
      const [name = ""] = all.ground.prepared();
      all.ground.sql(`ROLLBACK PREPARED '${name}'`);
    };
    await using cofferdam = await all.ground.open({
      onEvent: ({ name }) => {
        if (name === "plan.prepared") settle();
      },
    });
    const plan = await changedPlan(cofferdam, all);
    await expect(plan.commit()).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: "shop" } },
    });
    expect(all.state()).toEqual(OLD);
  });
});
