import { describe, expect, it } from "vitest";
import {
  ALLOWED_FROM,
  type Sandbox,
  type SandboxOperation,
  type SandboxStatus,
} from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { actUntilEnd } from "./act.ts";
import { edit, listing, mark, openSite, reopenSite, sandboxOf, type Site } from "./site.ts";

/** Those that every strategy offers and that need nothing but the status. */
type Call = Exclude<SandboxOperation, "create" | "prepare" | "recover" | "drop" | "resolve">;

const CALLS: Record<Call, (sandbox: Sandbox) => Promise<unknown>> = {
  read: (sandbox) => sandbox.read("a"),
  list: (sandbox) => sandbox.list(""),
  diff: (sandbox) => sandbox.diff(),
  write: (sandbox) => sandbox.write("x", "y"),
  getPath: (sandbox) => sandbox.getPath("a"),
  remove: (sandbox) => sandbox.remove("sub"),
  rename: (sandbox) => sandbox.rename("sub", "moved"),
  commit: (sandbox) => sandbox.commit(),
  rollback: (sandbox) => sandbox.rollback(),
  undoCommit: (sandbox) => sandbox.undoCommit(),
  checkpoint: (sandbox) => sandbox.checkpoint("another"),
  restoreCheckpoint: (sandbox) => sandbox.restoreCheckpoint("kept"),
  cleanup: (sandbox) => sandbox.cleanup(),
};

/** Where each call leads when it is allowed; the rest leaves the status as it is. */
const LEADS_TO: Partial<Record<Call, SandboxStatus>> = {
  write: "ACTIVE",
  getPath: "ACTIVE",
  remove: "ACTIVE",
  rename: "ACTIVE",
  restoreCheckpoint: "ACTIVE",
  undoCommit: "ACTIVE",
  commit: "COMMITTED",
  rollback: "ROLLED_BACK",
  cleanup: "PENDING",
};

const REACHED: Partial<Record<SandboxStatus, (sandbox: Sandbox) => Promise<void>>> = {
  CREATED: () => Promise.resolve(),
  ACTIVE: edit,
  COMMITTED: async (sandbox) => {
    await edit(sandbox);
    await sandbox.commit();
  },
  ROLLED_BACK: async (sandbox) => {
    await edit(sandbox);
    await sandbox.rollback();
  },
};

const STRATEGIES = ["probe", "two-phase", "overlay", "copy_on_write", "filesystem_copy"];
const calls = Object.keys(CALLS) as Call[];
const isAllowed = (call: Call, status: SandboxStatus): boolean =>
  (ALLOWED_FROM[call] as readonly string[]).includes(status);

/** Every call that the table refuses is tried, and leaves no trace. */
async function expectRefusals(
  { coffer, data, stateDirectory }: Site,
  sandbox: Sandbox,
  status: SandboxStatus,
): Promise<void> {
  const [original, state] = [takeOracle(data), listing(stateDirectory)];
  for (const attempted of calls.filter((call) => !isAllowed(call, status))) {
    await expect(CALLS[attempted](sandbox), attempted).rejects.toMatchObject({
      code: "SANDBOX_STATE",
      data: { status, attempted, allowedFrom: ALLOWED_FROM[attempted] },
      sandboxId: sandbox.ref.sandboxId,
    });
    expect(await coffer.status(sandbox.ref)).toBe(status);
  }
  expectOracleEqual(original, takeOracle(data));
  expect(listing(stateDirectory)).toEqual(state);
}

describe.each(STRATEGIES)("a sandbox of %s", (strategy) => {
  it.each(Object.keys(REACHED) as SandboxStatus[])(
    "answers every call in status %s as the table says (R16)",
    async (status) => {
      const site = await openSite();
      const reach = async (planId: string): Promise<Sandbox> => {
        const sandbox = await sandboxOf(site, strategy, planId);
        await sandbox.checkpoint("kept");
        await REACHED[status]?.(sandbox);
        expect(await site.coffer.status(sandbox.ref)).toBe(status);
        return sandbox;
      };
      const refused = await reach("refused");
      await expectRefusals(site, refused, status);
      if (status === "COMMITTED") await refused.rollback();
      await refused.cleanup();
      const allowed = calls.filter((one) => isAllowed(one, status));
      const looks = allowed.filter((call) => LEADS_TO[call] === undefined);
      const others = allowed.filter((call) => LEADS_TO[call] !== undefined);
      for (const together of [looks, ...others.map((call) => [call])]) {
        const sandbox = await reach(String(together));
        for (const call of together) {
          await CALLS[call](sandbox);
          expect(await site.coffer.status(sandbox.ref), call).toBe(LEADS_TO[call] ?? status);
        }
        if ((await site.coffer.status(sandbox.ref)) === "COMMITTED") await sandbox.rollback();
        await sandbox.cleanup();
      }
      expect(await site.coffer.list()).toEqual([]);
    },
  );

  it("is not known any more after cleanup, and cleanup stays legal (R11, R16)", async () => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    await sandbox.cleanup();
    await expectRefusals(site, sandbox, "PENDING");
    await sandbox.cleanup();
  });
});

it("freezes an unproven sandbox until it is recovered or cleaned up (R16, R206)", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "one-way");
  await edit(sandbox);
  await mark(sandbox, "commit", "half", "error");
  await expect(sandbox.commit()).rejects.toMatchObject({ code: "SANDBOX_COMMIT" });
  const offered = new Set<Call>(calls);
  offered.delete("undoCommit");
  for (const attempted of offered) {
    if (isAllowed(attempted, "ERRORED")) continue;
    await expect(CALLS[attempted](sandbox), attempted).rejects.toMatchObject({
      code: "SANDBOX_STATE",
      data: { status: "ERRORED", attempted },
    });
  }
  await sandbox.cleanup();
  await sandbox.cleanup();
});

it.each([
  ["COMMITTING", "apply"],
  ["ROLLING_BACK", "rollback"],
] as const)(
  "refuses everything but cleanup while %s is interrupted (R16, R226)",
  async (status, step) => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, "two-phase");
    await edit(sandbox);
    await mark(sandbox, step, "kill");
    const { stateDirectory } = site;
    const method = step === "apply" ? "commit" : "rollback";
    const ended = await actUntilEnd({
      options: { stateDirectory },
      ref: sandbox.ref,
      calls: [[method]],
    });
    expect(ended.signal).toBe("SIGKILL");
    const reopened = await reopenSite(site, { recover: "report" });
    const [original, state] = [takeOracle(site.data), listing(stateDirectory)];
    for (const attempted of calls.filter((call) => call !== "cleanup")) {
      await expect(
        CALLS[attempted](reopened.coffer.sandbox(sandbox.ref)),
        attempted,
      ).rejects.toMatchObject({ code: "SANDBOX_STATE", data: { status, attempted } });
    }
    expectOracleEqual(original, takeOracle(site.data));
    expect(listing(stateDirectory)).toEqual(state);
  },
);
