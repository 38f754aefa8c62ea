import { describe, expect, it } from "vitest";
import { NEW, OLD, type Mixed, mixed, startCommit } from "./mixed-plan.ts";
import { POSTGRES, runServer } from "./servers.ts";

describe("what somebody else does to a prepared transaction after a crash", () => {
  const on = runServer(POSTGRES);

  /** A plan that is decided, and whose process died before the server heard of it. */
  async function decidedPlan(): Promise<Mixed> {
    const all = mixed(on.server, on.proxy.port);
    const child = await startCommit(all);
    const act = (): void => {
      child.process.kill("SIGKILL");
    };
    on.proxy.arm({ statement: POSTGRES.commit, when: "before", act });
    expect((await child.result).signal).toBe("SIGKILL");
    expect(all.ground.prepared()).toHaveLength(1);
    return all;
  }

  it("is recognised when it was the commit that was decided (R94, R223)", async () => {
    const all = await decidedPlan();
    all.ground.sql(`COMMIT PREPARED '${all.ground.prepared()[0] ?? ""}'`);
    await using cofferdam = await all.ground.open();
    expect(cofferdam.opening.recovery).toMatchObject({ complete: true });
    expect(all.state()).toEqual(NEW);
    expect((await cofferdam.list()).map(({ status }) => status)).toEqual([
      "COMMITTED",
      "COMMITTED",
    ]);
  });

  it("is never taken for our commit when it was rolled back (R94, R223)", async () => {
    const all = await decidedPlan();
    all.ground.sql(`ROLLBACK PREPARED '${all.ground.prepared()[0] ?? ""}'`);
    await using cofferdam = await all.ground.open();
    expect(cofferdam.opening.recovery).toMatchObject({ complete: false });
    expect(all.state().row).toEqual(OLD.row);
    const told = JSON.stringify(cofferdam.opening.recovery);
    expect(told).toContain("was settled by somebody else");
    expect(await cofferdam.interrupted()).toMatchObject({ transactions: [expect.anything()] });
  });
});
