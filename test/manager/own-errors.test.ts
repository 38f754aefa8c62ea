import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/index.ts";
import { type MarkerWord, thrown } from "../fixtures/probe/marker.ts";
import { type Oracle, expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { failureOf } from "./failure.ts";
import { type Site, edit, mark, openSite, sandboxOf } from "./site.ts";

interface Stage {
  readonly site: Site;
  readonly sandbox: Sandbox;
  readonly old: Oracle;
}

async function edited(strategy = "two-phase"): Promise<Stage> {
  const site = await openSite();
  const sandbox = await sandboxOf(site, strategy);
  await edit(sandbox);
  return { site, sandbox, old: takeOracle(site.data) };
}

/** The error of a call during which the strategy throws at these steps. */
async function failing(
  sandbox: Sandbox,
  steps: Readonly<Record<string, MarkerWord>>,
  call: () => Promise<unknown>,
): Promise<Error> {
  const markers = [];
  for (const [step, word] of Object.entries(steps)) markers.push(await mark(sandbox, step, word));
  const error = await failureOf(call());
  for (const marker of markers) rmSync(marker);
  return error;
}

describe("an error of the family that a strategy throws reaches the caller with its own code", () => {
  const CALLS: readonly (readonly [
    step: string,
    strategy: string,
    call: (sandbox: Sandbox) => Promise<unknown>,
  ])[] = [
    ["write", "probe", (sandbox) => sandbox.write("a", "text")],
    ["commit", "probe", (sandbox) => sandbox.commit()],
    ["rollback", "probe", (sandbox) => sandbox.rollback()],
    ["checkpoint", "probe", (sandbox) => sandbox.checkpoint("mine")],
    ["cleanup", "probe", (sandbox) => sandbox.cleanup()],
    ["prepare", "two-phase", (sandbox) => sandbox.commit()],
    ["fence", "two-phase", (sandbox) => sandbox.commit()],
    ["apply", "two-phase", (sandbox) => sandbox.commit()],
  ];

  it.each(CALLS)("at %s of %s", async (step, strategy, call) => {
    const { site, sandbox, old } = await edited(strategy);
    const error = await failing(sandbox, { [step]: "path" }, () => call(sandbox));
    expect(error).toMatchObject({
      code: "SANDBOX_PATH",
      data: { path: "a", reason: "unreadable" },
    });
    expectOracleEqual(old, takeOracle(site.data));
  });
});

it("tells a conflict that shows while applying as a conflict, once everything is as before", async () => {
  const { site, sandbox, old } = await edited();
  const error = await failing(sandbox, { apply: "conflict" }, () => sandbox.commit());
  expect(error).toMatchObject({
    code: "SANDBOX_CONFLICT",
    data: { originalRestored: true, undoDataAt: null, conflicts: [] },
  });
  expectOracleEqual(old, takeOracle(site.data));
});

it("does not pass an error on as it is while the resource is not as before", async () => {
  const { site, sandbox, old } = await edited();
  const steps = { apply: "path", reverse: "error" } as const;
  const error = await failing(sandbox, steps, () => sandbox.commit());
  expect(error).toMatchObject({
    code: "SANDBOX_COMMIT",
    data: { originalRestored: false },
    cause: { code: "SANDBOX_PATH" },
  });
  expect(await site.coffer.recover()).toMatchObject({ complete: true });
  expectOracleEqual(old, takeOracle(site.data));
});

it("gives a checkpoint error the id that the caller knows, and keeps everything else", async () => {
  const { sandbox } = await edited("probe");
  const error = await failing(sandbox, { checkpoint: "checkpoint" }, () =>
    sandbox.checkpoint("mine"),
  );
  expect(error).toMatchObject({
    code: "CHECKPOINT",
    data: { checkpointId: "mine", reason: "failed" },
    hint: "Make room.",
  });
  expect(error.cause).toBe((thrown.last as Error).cause);
});

describe("an undo that fails", () => {
  async function committed(): Promise<Stage & { readonly latest: Oracle }> {
    const stage = await edited();
    await stage.sandbox.commit();
    return { ...stage, latest: takeOracle(stage.site.data) };
  }

  it("passes an error of the family on once everything is as it was committed", async () => {
    const { site, sandbox, latest } = await committed();
    const error = await failing(sandbox, { apply: "path" }, () => sandbox.undoCommit());
    expect(error).toMatchObject({ code: "SANDBOX_PATH" });
    expectOracleEqual(latest, takeOracle(site.data));
    expect(await site.coffer.status(sandbox.ref)).toBe("COMMITTED");
  });

  it("tells a publishing that stopped as a failed undo, with its own cause", async () => {
    const { site, sandbox, latest } = await committed();
    const error = await failing(sandbox, { apply: "stopped" }, () => sandbox.undoCommit());
    expect(error).toMatchObject({ code: "SANDBOX_ROLLBACK", data: { reason: "io" } });
    expect(error.cause).toBe((thrown.last as Error).cause);
    expectOracleEqual(latest, takeOracle(site.data));
  });

  it("goes on, never back, once the strategy says that the resource is as before", async () => {
    const { site, sandbox, old } = await committed();
    const error = await failing(sandbox, { apply: "undone" }, () => sandbox.undoCommit());
    expect(error).toMatchObject({ code: "SANDBOX_ROLLBACK", data: { originalRestored: true } });
    expect(await site.coffer.status(sandbox.ref)).toBe("ERRORED");
    expect(await site.coffer.recover()).toMatchObject({ complete: true });
    expectOracleEqual(old, takeOracle(site.data));
    expect(await site.coffer.status(sandbox.ref)).toBe("ACTIVE");
  });

  it("names the error as the cause while it can go neither on nor back", async () => {
    const { site, sandbox } = await committed();
    const steps = { apply: "path", reverse: "error" } as const;
    const error = await failing(sandbox, steps, () => sandbox.undoCommit());
    expect(error).toMatchObject({
      code: "SANDBOX_ROLLBACK",
      data: { originalRestored: false },
      cause: { code: "SANDBOX_PATH" },
    });
    expect(await site.coffer.recover()).toMatchObject({ complete: true });
  });
});
