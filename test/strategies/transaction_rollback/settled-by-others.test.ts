import { describe, expect, it } from "vitest";
import { NEW, OLD, type Mixed, mixed, startCommit } from "./mixed-plan.ts";
import { SERVERS, runServer } from "./servers.ts";

describe.each(SERVERS)(
  "what somebody else does to a prepared transaction of $name after a crash",
  (kind) => {
    const on = runServer(kind);

    function settle({ ground }: Mixed, decision: "COMMIT" | "ROLLBACK"): void {
      on.server.settlePrepared(ground.database, ground.prepared()[0] ?? "", decision);
    }

    /** A plan that is decided, and whose process died before the server heard of it. */
    async function decidedPlan(): Promise<Mixed> {
      const all = mixed(on.server, on.proxy.port);
      const child = await startCommit(all);
      const act = (): void => {
        child.process.kill("SIGKILL");
      };
      on.proxy.arm({ statement: kind.commit, when: "before", act });
      expect((await child.result).signal).toBe("SIGKILL");
      expect(all.ground.prepared()).toHaveLength(1);
      return all;
    }

    it("is recognised when it was the commit that was decided (R94, R223)", async () => {
      const all = await decidedPlan();
      settle(all, "COMMIT");
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
      settle(all, "ROLLBACK");
      await using cofferdam = await all.ground.open();
      expect(cofferdam.opening.recovery).toMatchObject({ complete: false });
      expect(all.state().row).toEqual(OLD.row);
      const told = JSON.stringify(cofferdam.opening.recovery);
      expect(told).toContain("was settled by somebody else");
      expect(await cofferdam.interrupted()).toMatchObject({ transactions: [expect.anything()] });
    });
  },
);
