import { appendFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AtomicCommitError, DatabaseError } from "../../../src/index.ts";
import { SHOP } from "./fixture.ts";
import { type Mixed, NEW, OLD, changedPlan, expectTrueOutcome, mixed } from "./mixed-plan.ts";
import { type Running, SERVERS, runServer } from "./servers.ts";

/** A database and a directory of somebody who does not wait long for an answer. */
function impatient({ server, proxy }: Running): Mixed {
  const all = mixed(server, proxy.port);
  onTestFinished(() => proxy.silence(false));
  appendFileSync(all.ground.config, "    answer_seconds: 0.5\n");
  return all;
}

describe.each(SERVERS)("$name", (kind) => {
  const on = runServer(kind);

  it.each([
    ["before", "prepare", OLD],
    ["after", "prepare", OLD],
    ["before", "commit", NEW],
    ["after", "commit", NEW],
  ] as const)(
    "falls silent %s %s: nobody waits for ever, and the true outcome is told (R94, R151)",
    async (when, statement, expected) => {
      const all = impatient(on);
      const fault = { statement: kind[statement], when, how: "silence" } as const;
      await expectTrueOutcome(all, on.proxy, fault, expected);
    },
  );

  it("that says nothing more after the decision leaves all of it to recovery (R151)", async () => {
    const all = impatient(on);
    await using cofferdam = await all.ground.open();
    const plan = await changedPlan(cofferdam, all, "folder first");
    on.proxy.arm({
      statement: kind.commit,
      when: "before",
      act: () => on.proxy.silence(true),
      how: "silence",
    });
    const failed = await plan.commit().catch((thrown: unknown) => thrown as AtomicCommitError);
    expect(failed).toMatchObject({ data: { report: { outcome: "in-doubt", failedId: "shop" } } });
    expect(JSON.stringify(failed)).toContain("cannot be reached");
    expect((await plan.sandbox("shop").describe()).status).toBe("ERRORED");
    expect(all.ground.prepared()).toHaveLength(1);
    on.proxy.silence(false);
    expect((await cofferdam.recover()).complete).toBe(true);
    expect(all.state()).toEqual(OLD);
    expect(all.ground.prepared()).toEqual([]);
    expect((await plan.sandbox("shop").describe()).status).not.toBe("ERRORED");
  });

  it("that says nothing at all is not waited for, and a connection that fell silent is replaced", async () => {
    const all = impatient(on);
    await using cofferdam = await all.ground.open();
    const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
    await sandbox.write("job.sql", "UPDATE jobs SET state = 'new'");
    on.proxy.arm({ statement: "", when: "before", how: "silence" });
    expect(Buffer.from(await sandbox.read("SELECT state FROM jobs")).toString()).toContain("new");
    on.proxy.silence(true);
    on.proxy.arm({ statement: "", when: "before", how: "silence" });
    const reading = sandbox.read("SELECT state FROM jobs");
    await expect(reading).rejects.toBeInstanceOf(DatabaseError);
    await expect(reading).rejects.toMatchObject({ data: { reason: "unreachable" } });
    on.proxy.silence(false);
    expect(Buffer.from(await sandbox.read("SELECT state FROM jobs")).toString()).toContain("new");
  });
});
