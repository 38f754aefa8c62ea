import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/index.ts";
import { type MarkerWord, thrown } from "../fixtures/probe/marker.ts";
import { expectOracleEqual, takeOracle, type Oracle } from "../support/oracle.ts";
import { failureOf } from "./failure.ts";
import { edit, mark, openSite, privateFolder, run, sandboxOf, type Site } from "./site.ts";

interface Stage {
  readonly site: Site;
  readonly sandbox: Sandbox;
  readonly before: Oracle;
}

async function edited(): Promise<Stage> {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "two-phase");
  await edit(sandbox);
  return { site, sandbox, before: takeOracle(site.data) };
}

/** The new content is there, the old content is kept for an undo. */
function expectPublished({ site }: Stage): void {
  expect(run("cat", join(site.data, "a"))).toBe("new a\n");
  expect(run("cat", join(site.data, "made/new"))).toBe("new file\n");
  expect(existsSync(join(site.data, "b"))).toBe(false);
}

const running = ({ site }: Stage): string[] => readdirSync(join(site.stateDirectory, "tx"));
const events = ({ site }: Stage, name: string): number =>
  site.events.filter((event) => event.name === name).length;

describe.each(["prepare", "prepare half", "fence"])("when %s fails", (place) => {
  const [step, ...rest] = place.split(" ") as [string, ...MarkerWord[]];

  it.each(["error", "string", "undefined", "sync"] as const)(
    "touches nothing and gives the edits back, whatever is thrown: %s (R20)",
    async (word) => {
      const stage = await edited();
      const marker = await mark(stage.sandbox, step, word, ...rest);
      const error = await failureOf(stage.sandbox.commit());
      expect(error).toMatchObject({
        code: "SANDBOX_COMMIT",
        data: { originalRestored: true, undoDataAt: null },
      });
      expect(error.cause).toBe(thrown.last);
      expectOracleEqual(stage.before, takeOracle(stage.site.data));
      expect(running(stage)).toEqual([]);
      expect(await stage.site.coffer.history()).toEqual([]);
      expect(readdirSync(privateFolder(stage.sandbox)).toSorted()).toEqual(["base", "workspace"]);
      expect(await stage.site.coffer.status(stage.sandbox.ref)).toBe("ACTIVE");
      rmSync(marker);
      await stage.sandbox.commit();
      expectPublished(stage);
    },
  );
});

it("tries a step again that failed once after the decision (R28)", async () => {
  for (const words of [
    ["once", "error"],
    ["once", "half", "string"],
  ] as const) {
    const stage = await edited();
    await mark(stage.sandbox, "apply", ...words);
    await stage.sandbox.commit();
    expectPublished(stage);
    expect(running(stage)).toEqual([]);
  }
});

it.each(["error", "string", "undefined"] as const)(
  "takes everything back when applying fails for good: %s (R17, R28)",
  async (word) => {
    for (const half of [[], ["half"]] as const) {
      const stage = await edited();
      const marker = await mark(stage.sandbox, "apply", word, ...half);
      const error = await failureOf(stage.sandbox.commit());
      expect(error).toMatchObject({
        code: "SANDBOX_COMMIT",
        data: { originalRestored: true, undoDataAt: null },
      });
      expect(error.cause).toBe(thrown.last);
      expectOracleEqual(stage.before, takeOracle(stage.site.data));
      expect(running(stage)).toEqual([]);
      expect(await stage.site.coffer.history()).toMatchObject([{ outcome: "aborted" }]);
      expect(readdirSync(privateFolder(stage.sandbox)).toSorted()).toEqual(["base", "workspace"]);
      expect(await stage.site.coffer.status(stage.sandbox.ref)).toBe("ACTIVE");
      rmSync(marker);
      await stage.sandbox.commit();
      expectPublished(stage);
    }
  },
);

it("keeps everything and says where when it can be neither applied nor taken back (R29, R164)", async () => {
  const stage = await edited();
  const { sandbox, site } = stage;
  const markers = [
    await mark(sandbox, "apply", "half", "error"),
    await mark(sandbox, "reverse", "string"),
  ];
  const error = await failureOf(sandbox.commit());
  const [transaction = ""] = running(stage);
  const undoDataAt = join(privateFolder(stage.sandbox), `undo-${transaction}`);
  expect(error).toMatchObject({
    code: "SANDBOX_COMMIT",
    data: { originalRestored: false, undoDataAt },
  });
  expect(await sandbox.describe()).toMatchObject({ status: "ERRORED", interrupted: true });
  expectOracleEqual(stage.before, takeOracle(undoDataAt));
  await expect(sandbox.cleanup()).rejects.toMatchObject({
    code: "SANDBOX_CLEANUP",
    data: { remaining: [undoDataAt] },
  });
  expectOracleEqual(stage.before, takeOracle(undoDataAt));
  expect(await site.coffer.recover()).toMatchObject({ complete: false });
  expect(await site.coffer.status(sandbox.ref)).toBe("ERRORED");
  for (const marker of markers) rmSync(marker);
  expect(await site.coffer.recover()).toMatchObject({
    complete: true,
    transactions: [{ transaction, outcome: "aborted" }],
    sandboxes: [{ from: "ERRORED", to: "ACTIVE" }],
  });
  expectOracleEqual(stage.before, takeOracle(site.data));
  await sandbox.commit();
  expectPublished(stage);
});

it("gives up the only copy when it is forced to (R164)", async () => {
  const stage = await edited();
  for (const step of ["apply", "reverse"]) await mark(stage.sandbox, step, "error");
  await expect(stage.sandbox.commit()).rejects.toThrowError();
  await stage.sandbox.cleanup({ force: true });
  expect(running(stage)).toEqual([]);
  expect(existsSync(privateFolder(stage.sandbox))).toBe(false);
  expect(await stage.site.coffer.list()).toEqual([]);
});

it("waits for recovery when the edits cannot be given back (R17)", async () => {
  const stage = await edited();
  await mark(stage.sandbox, "fence", "once", "error");
  const marker = await mark(stage.sandbox, "abandon", "error");
  await expect(stage.sandbox.commit()).rejects.toMatchObject({ data: { originalRestored: false } });
  expect(await stage.site.coffer.status(stage.sandbox.ref)).toBe("ERRORED");
  expectOracleEqual(stage.before, takeOracle(stage.site.data));
  rmSync(marker);
  expect(await stage.site.coffer.recover()).toMatchObject({ complete: true });
  await stage.sandbox.commit();
  expectPublished(stage);
});

it("never reports a commit as failed once it is complete", async () => {
  const stage = await edited();
  const forget = await mark(stage.sandbox, "forget", "error");
  const after = await mark(stage.sandbox, "after", "error");
  const result = await stage.sandbox.commit();
  expect(result).toMatchObject({ success: true, added: ["made", "made/new"] });
  expect(result.warnings).toHaveLength(1);
  expectPublished(stage);
  expect([events(stage, "transaction.pending"), running(stage).length]).toEqual([1, 1]);
  expect(await stage.site.coffer.status(stage.sandbox.ref)).toBe("COMMITTED");
  for (const marker of [forget, after]) rmSync(marker);
  await stage.sandbox.rollback();
  expectOracleEqual(stage.before, takeOracle(stage.site.data));
  expect(running(stage)).toEqual([]);
});

it("undoes by the same steps, with the record of the commit at hand (R10)", async () => {
  const stage = await edited();
  await stage.sandbox.commit();
  await stage.sandbox.rollback();
  expectOracleEqual(stage.before, takeOracle(stage.site.data));
  expect(await stage.site.coffer.history()).toMatchObject([
    { kind: "commit", outcome: "committed" },
    { kind: "undo", outcome: "committed" },
  ]);
});

it("returns to the committed state when an undo fails (R10, R17)", async () => {
  for (const [step, words] of [
    ["undo", ["error"]],
    ["prepare", ["string"]],
    ["fence", ["undefined"]],
    ["apply", ["half", "error"]],
  ] as const) {
    const stage = await edited();
    await stage.sandbox.commit();
    const committed = takeOracle(stage.site.data);
    const marker = await mark(stage.sandbox, step, ...words);
    const error = await failureOf(stage.sandbox.rollback());
    expect(error).toMatchObject({
      code: "SANDBOX_ROLLBACK",
      data: { reason: "io", originalRestored: false },
    });
    expect(error.cause).toBe(thrown.last);
    expectOracleEqual(committed, takeOracle(stage.site.data));
    expect(await stage.sandbox.describe()).toMatchObject({
      status: "COMMITTED",
      lastError: { code: "SANDBOX_ROLLBACK" },
    });
    rmSync(marker);
    await stage.sandbox.rollback();
    expectOracleEqual(stage.before, takeOracle(stage.site.data));
  }
});

it.each(["error", "string", "undefined", "reject", "sync"] as const)(
  "brings the committed state back whatever an undo throws half way: %s (R179)",
  async (word) => {
    const stage = await edited();
    await stage.sandbox.commit();
    const committed = takeOracle(stage.site.data);
    const marker = await mark(stage.sandbox, "apply", "half", word);
    const error = await failureOf(stage.sandbox.undoCommit());
    expect(error).toMatchObject({ code: "SANDBOX_ROLLBACK", data: { undoDataAt: null } });
    expect(error.cause).toBe(thrown.last);
    expectOracleEqual(committed, takeOracle(stage.site.data));
    expect(await stage.site.coffer.status(stage.sandbox.ref)).toBe("COMMITTED");
    rmSync(marker);
    await stage.sandbox.undoCommit();
    expectOracleEqual(stage.before, takeOracle(stage.site.data));
  },
);

it("refuses an undo whose data is gone and changes nothing (R32)", async () => {
  const stage = await edited();
  await stage.sandbox.commit();
  const committed = takeOracle(stage.site.data);
  const { transaction } = await stage.sandbox.describe();
  rmSync(join(privateFolder(stage.sandbox), `undo-${transaction}`), { recursive: true });
  await expect(stage.sandbox.rollback()).rejects.toMatchObject({
    code: "SANDBOX_ROLLBACK",
    data: { reason: "undoDataMissing" },
  });
  expectOracleEqual(committed, takeOracle(stage.site.data));
  expect(await stage.site.coffer.status(stage.sandbox.ref)).toBe("COMMITTED");
});
