import { setTimeout as pause } from "node:timers/promises";
import { AtomicCommitError, SandboxError } from "cofferdam";
import { describe, expect, it } from "vitest";
import { runChild, startChild } from "../../../test/support/child.ts";
import { DatabaseProxy } from "../../../test/support/database-proxy.ts";
import { useServer } from "./server.ts";
import { type Member, Trio } from "./trio.ts";

const MINUTES = 60_000;
const served = useServer();

/** What a commit asks the server: to begin an upload, take its part, complete two, tell of versions, and delete. */
const REQUESTS = [
  "/page?uploads",
  "partNumber=1",
  "/page?uploadId=",
  "/added?uploadId=",
  "&versions",
  "DELETE /",
] as const;
const TIMES = ["before", "after"] as const;
const CUTS = REQUESTS.flatMap((statement) => TIMES.map((when) => ({ statement, when })));

function stateOfAll(states: Record<Member, string>): string {
  const different = [...new Set(Object.values(states))];
  return different.length === 1 ? (different[0] ?? "") : `a mixture: ${JSON.stringify(states)}`;
}

describe("a server that goes away", () => {
  it("leaves everything as before when it is gone by the time of the commit", async () => {
    const trio = await Trio.make(served());
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam);
    await served().server.halt();
    const committing = plan.commit();
    await expect(committing).rejects.toBeInstanceOf(AtomicCommitError);
    await expect(committing).rejects.toMatchObject({
      data: { report: { outcome: "aborted", failedId: "bucket" } },
    });
    await served().server.resume();
    expect(await trio.states()).toEqual({ directory: "old", git: "old", bucket: "old" });
    expect((await plan.commit()).outcome).toBe("committed");
    expect(await trio.states()).toEqual({ directory: "new", git: "new", bucket: "new" });
  });

  it("lets one read what is edited, look at the diff, and clean up meanwhile", async () => {
    const trio = await Trio.make(served());
    await using cofferdam = await trio.open();
    const plan = await trio.plan(cofferdam);
    await served().server.halt();
    try {
      const sandbox = plan.sandbox("bucket");
      expect(Buffer.from(await sandbox.read("page")).toString()).toBe("new\n");
      expect((await sandbox.diff()).changes.map(({ path }) => path)).toEqual([
        "added",
        "gone",
        "page",
      ]);
      const reading = sandbox.read("elsewhere");
      await expect(reading).rejects.toBeInstanceOf(SandboxError);
      await expect(reading).rejects.toMatchObject({ data: { reason: "unreachable" } });
      await plan.cleanup();
    } finally {
      await served().server.resume();
    }
    expect(await served().buckets.uploads(trio.bucket)).toEqual([]);
  });

  it.each(CUTS)(
    "leaves a commit that recovery settles, when the connection is lost $when $statement",
    async (cut) => {
      await using proxy = await DatabaseProxy.start(served().server);
      const trio = await Trio.make(served(), `http://127.0.0.1:${proxy.port}`);
      await using cofferdam = await trio.open();
      const plan = await trio.plan(cofferdam);
      proxy.arm({ ...cut, act: () => proxy.refuse(true) });
      const outcome = await plan.commit().then(
        (report) => report.outcome,
        (error: AtomicCommitError) => error.data.report.outcome,
      );
      expect(proxy.fired).toBe(1);
      proxy.refuse(false);
      await cofferdam.recover();
      const state = stateOfAll(await trio.states());
      expect(outcome === "aborted" ? ["old"] : ["old", "new"]).toContain(state);
      expect(await served().buckets.uploads(trio.bucket)).toEqual([]);
      const next = await cofferdam.plan("trio");
      await (state === "new" ? next.undo() : next.commit());
      expect(stateOfAll(await trio.states())).toBe(state === "new" ? "old" : "new");
    },
  );

  it.each(TIMES.flatMap((when) => [0, 1, 2].map((passing) => ({ when, passing }))))(
    "leaves an undo that recovery settles, when the connection is lost $when removal $passing",
    async (cut) => {
      await using proxy = await DatabaseProxy.start(served().server);
      const trio = await Trio.make(served(), `http://127.0.0.1:${proxy.port}`);
      await using cofferdam = await trio.open();
      const plan = await trio.plan(cofferdam);
      await plan.commit();
      proxy.arm({ statement: "DELETE /", ...cut, act: () => proxy.refuse(true) });
      const undone = await plan.undo().then(
        () => true,
        () => false,
      );
      expect(proxy.fired).toBe(1);
      proxy.refuse(false);
      await cofferdam.recover();
      const state = stateOfAll(await trio.states());
      expect(undone ? ["old"] : ["old", "new"]).toContain(state);
      expect(await served().buckets.uploads(trio.bucket)).toEqual([]);
      const next = await cofferdam.plan("trio");
      await (state === "new" ? next.undo() : next.commit());
      expect(stateOfAll(await trio.states())).toBe(state === "new" ? "old" : "new");
    },
  );

  it(
    "does not matter when only one answer is lost: what it answered is not done twice",
    async () => {
      await using proxy = await DatabaseProxy.start(served().server);
      for (const cut of CUTS.filter(({ when }) => when === "after")) {
        const trio = await Trio.make(served(), `http://127.0.0.1:${proxy.port}`);
        const before = await served().buckets.history(trio.bucket);
        await using cofferdam = await trio.open();
        const plan = await trio.plan(cofferdam);
        proxy.arm(cut);
        expect((await plan.commit()).outcome).toBe("committed");
        expect(await trio.states()).toEqual({ directory: "new", git: "new", bucket: "new" });
        await plan.undo();
        expect(await served().buckets.history(trio.bucket)).toEqual(before);
        expect(await served().buckets.uploads(trio.bucket)).toEqual([]);
      }
    },
    3 * MINUTES,
  );
});

describe("a process that is killed", () => {
  it(
    "leaves all or nothing of a commit, whenever that is",
    async () => {
      const program = new URL("programs/commit-plan.ts", import.meta.url);
      const found: string[] = [];
      for (const delay of [0, 20, 45, 80, 140]) {
        const trio = await Trio.make(served());
        {
          await using cofferdam = await trio.open();
          await trio.plan(cofferdam);
        }
        const child = await startChild(program, [trio.stateDirectory, trio.config]);
        child.process.stdout.once("data", () => {
          void pause(delay).then(() => child.process.kill("SIGKILL"));
        });
        await child.result;
        await using cofferdam = await trio.open();
        const state = stateOfAll(await trio.states());
        expect(["old", "new"]).toContain(state);
        expect(await served().buckets.uploads(trio.bucket)).toEqual([]);
        const plan = await cofferdam.plan("trio");
        await (state === "new" ? plan.undo() : plan.commit());
        expect(stateOfAll(await trio.states())).toBe(state === "new" ? "old" : "new");
        found.push(state);
      }
      expect(found).toHaveLength(5);
    },
    5 * MINUTES,
  );

  it("does the whole commit when nobody kills it", async () => {
    const trio = await Trio.make(served());
    {
      await using cofferdam = await trio.open();
      await trio.plan(cofferdam);
    }
    const program = new URL("programs/commit-plan.ts", import.meta.url);
    const { code } = await runChild(program, [trio.stateDirectory, trio.config]);
    expect(code).toBe(0);
    expect(stateOfAll(await trio.states())).toBe("new");
  });
});
