import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { CommitResult, Sandbox } from "../../src/index.ts";
import { type Oracle, expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { failureOf } from "./failure.ts";
import { type Site, edit, mark, openSite, run, sandboxOf } from "./site.ts";
import { until } from "./until.ts";

interface Stopped {
  readonly site: Site;
  readonly sandbox: Sandbox;
  readonly before: Oracle;
  readonly commit: Promise<CommitResult>;
  readonly transaction: string;
  /** Where its records lie, and where its outcome will. */
  readonly records: string;
  readonly outcome: string;
  readonly goOn: () => void;
}

/** A commit that waits at a step, so that something can happen to its records. */
async function stoppedAt(step: "fence" | "apply"): Promise<Stopped> {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "two-phase");
  await edit(sandbox);
  const before = takeOracle(site.data);
  const marker = await mark(sandbox, step, "wait");
  const commit = sandbox.commit();
  commit.catch(() => undefined);
  const isThere = (ulid: string): boolean =>
    step === "fence"
      ? readFileSync(join(recordsOf(site, ulid), "intent.json"), "utf8").includes('"prepared"')
      : existsSync(join(recordsOf(site, ulid), "decision"));
  await until(() => running(site).some(isThere));
  const [transaction = ""] = running(site);
  const records = recordsOf(site, transaction);
  const outcome = join(site.stateDirectory, "done", `${transaction}.json`);
  const goOn = (): void => rmSync(marker);
  return { site, sandbox, before, commit, transaction, records, outcome, goOn };
}

function running({ stateDirectory }: Site): string[] {
  return readdirSync(join(stateDirectory, "tx")).filter((name) => !name.startsWith("."));
}

function recordsOf({ stateDirectory }: Site, transaction: string): string {
  return join(stateDirectory, "tx", transaction);
}

/** Steps that leave a transaction with this decision behind. */
const LEFT_BEHIND = { ABORT: ["fence", "abandon"], COMMIT: ["apply", "reverse"] } as const;

/** Puts the decision there that another transaction was left with. */
async function decide({ records }: Stopped, decision: keyof typeof LEFT_BEHIND): Promise<void> {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "two-phase");
  await edit(sandbox);
  for (const step of LEFT_BEHIND[decision]) await mark(sandbox, step, "error");
  await failureOf(sandbox.commit());
  const [other = ""] = running(site);
  copyFileSync(join(recordsOf(site, other), "decision"), join(records, "decision"));
}

function expectPublished({ site }: Stopped): void {
  expect(run("cat", join(site.data, "a"), join(site.data, "made/new"))).toBe("new a\nnew file\n");
  expect(existsSync(join(site.data, "b"))).toBe(false);
}

it("gives the edits back when somebody else decided that the transaction is given up", async () => {
  const stopped = await stoppedAt("fence");
  const { site, sandbox, before, commit, goOn } = stopped;
  await decide(stopped, "ABORT");
  goOn();
  expect(await failureOf(commit)).toMatchObject({
    code: "SANDBOX_COMMIT",
    data: { originalRestored: true, undoDataAt: null },
  });
  expectOracleEqual(before, takeOracle(site.data));
  expect(await sandbox.describe()).toMatchObject({ status: "ACTIVE", interrupted: false });
  await sandbox.commit();
  expectPublished(stopped);
});

it("leaves it to recovery when nobody can tell what was decided", async () => {
  const stopped = await stoppedAt("fence");
  const { site, sandbox, before, commit, records, goOn } = stopped;
  mkdirSync(join(records, "decision"));
  goOn();
  expect(await failureOf(commit)).toMatchObject({
    code: "SANDBOX_COMMIT",
    data: { originalRestored: false, undoDataAt: records },
  });
  expectOracleEqual(before, takeOracle(site.data));
  expect(await sandbox.describe()).toMatchObject({ status: "ERRORED", interrupted: true });
  expect(await site.coffer.recover()).toMatchObject({ complete: false });
  rmdirSync(join(records, "decision"));
  expect(await site.coffer.recover()).toMatchObject({ complete: true });
  expectOracleEqual(before, takeOracle(site.data));
  expect(await sandbox.describe()).toMatchObject({ status: "ACTIVE", interrupted: false });
});

it("touches nothing when its decision cannot be written, and keeps the edits", async () => {
  const { site, sandbox, before, commit, transaction, records, goOn } = await stoppedAt("fence");
  const away = join(site.stateDirectory, "away");
  renameSync(records, away);
  goOn();
  expect(await failureOf(commit)).toMatchObject({
    code: "SANDBOX_COMMIT",
    data: { originalRestored: true },
    cause: { code: "ENOENT" },
  });
  expectOracleEqual(before, takeOracle(site.data));
  expect(site.events).toContainEqual(
    expect.objectContaining({
      name: "transaction.pending",
      data: expect.objectContaining({ transaction, step: "abandon" }) as unknown,
    }),
  );
  // Presumed abort: without a decision the records say the same once they are back.
  renameSync(away, records);
  expect(await site.coffer.recover()).toMatchObject({
    transactions: [{ transaction, outcome: "aborted" }],
  });
  expectOracleEqual(before, takeOracle(site.data));
  await sandbox.commit();
  expect(run("cat", join(site.data, "a"))).toBe("new a\n");
});

it("reports a commit as done whose outcome cannot be recorded, and recovery records it", async () => {
  const stopped = await stoppedAt("apply");
  const { site, sandbox, before, commit, transaction, outcome, goOn } = stopped;
  mkdirSync(outcome);
  goOn();
  const result = await commit;
  expect(result).toMatchObject({ success: true, deleted: ["b"] });
  expect(result.warnings).toHaveLength(1);
  expectPublished(stopped);
  rmdirSync(outcome);
  expect(await site.coffer.recover()).toMatchObject({
    complete: true,
    transactions: [{ transaction, outcome: "committed" }],
  });
  expect(await site.coffer.status(sandbox.ref)).toBe("COMMITTED");
  await sandbox.undoCommit();
  expectOracleEqual(before, takeOracle(site.data));
});

it("keeps a decided commit for the next recovery while it cannot be applied (R28)", async () => {
  const stopped = await stoppedAt("fence");
  const { site, sandbox, before, commit, transaction, records, goOn } = stopped;
  mkdirSync(join(records, "decision"));
  goOn();
  await failureOf(commit);
  rmdirSync(join(records, "decision"));
  await decide(stopped, "COMMIT");
  const marker = await mark(sandbox, "apply", "error");
  expect(await site.coffer.recover()).toMatchObject({
    complete: false,
    transactions: [{ transaction, outcome: "failed", error: { code: "SANDBOX_ROLLBACK" } }],
  });
  expectOracleEqual(before, takeOracle(site.data));
  rmSync(marker);
  expect(await site.coffer.recover()).toMatchObject({
    complete: true,
    transactions: [{ transaction, outcome: "committed" }],
  });
  expect(await site.coffer.status(sandbox.ref)).toBe("COMMITTED");
  expectPublished(stopped);
});
