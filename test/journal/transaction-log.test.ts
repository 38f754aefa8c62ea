import { randomBytes } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import type { OpenTransaction } from "../../src/journal/open-transaction.ts";
import { openStateDirectory } from "../../src/journal/state-directory.ts";
import { TransactionLog } from "../../src/journal/transaction-log.ts";
import type { Done, Intent } from "../../src/journal/transaction-record.ts";
import { tempFolder } from "../support/temp.ts";
import { sampleRecord } from "./sample-record.ts";

const ids = { next: (): string => randomBytes(13).toString("hex") };
const { ref } = sampleRecord("plan", "sandbox");
const AT = "2024-01-01T00:00:00.000Z";
const INTENT: Intent = {
  phase: "preparing",
  kind: "commit",
  gid: "coffer1:0000000000000000:x",
  message: null,
  members: [{ ref, location: "/nowhere", record: null, undoes: null }],
  at: AT,
};
const DONE: Done = {
  ...INTENT,
  outcome: "committed",
  members: [{ ref, record: 1, undoes: null, result: null }],
};

async function openLog(): Promise<{ log: TransactionLog; path: string }> {
  const { path } = await openStateDirectory(join(tempFolder(), "state"));
  return { log: new TransactionLog(path), path };
}

async function taken(log: TransactionLog, ulid: string): Promise<OpenTransaction> {
  const transaction = await log.open(ulid);
  if (typeof transaction === "string") throw new Error(`transaction is ${transaction}`);
  return transaction;
}

it("shows a transaction with its intent and its lock from the first moment", async () => {
  const { log, path } = await openLog();
  const ulid = ids.next();
  {
    await using transaction = await log.begin(ulid, INTENT);
    expect(transaction).toMatchObject({ ulid, folder: join(path, "tx", ulid) });
    expect(transaction.intent()).toEqual(INTENT);
    expect(readdirSync(join(path, "tx"))).toEqual([ulid]);
    expect(await log.open(ulid)).toBe("busy");
    expect(log.ownerOf(ulid)).toMatchObject({
      pid: process.pid,
      startTime: expect.stringMatching(/^\d+$/) as string,
    });
  }
  await using again = await taken(log, ulid);
  expect(again.decision()).toBeNull();
  expect(await log.open(ids.next())).toBe("gone");
});

it("lets the first decision win, in 200 races of commit and abort", async () => {
  const { log } = await openLog();
  await using transaction = await log.begin(ids.next(), INTENT);
  const outcomes = new Set<string>();
  for (let round = 0; round < 200; round += 1) {
    const ulid = ids.next();
    await using one = await log.begin(ulid, INTENT);
    // A decision to commit only lacks its name, so it starts later and later.
    const late = pause(round / 20).then(() => one.decide("COMMIT"));
    const answers = await Promise.all([one.decide("ABORT"), late]);
    expect(new Set(answers).size).toBe(1);
    expect(one.decision()).toBe(answers[0]);
    outcomes.add(answers[0]);
    await one.remove();
  }
  expect(outcomes.size).toBe(2);
  expect(transaction.decision()).toBeNull();
});

it("refuses a torn or empty decision and guesses nothing (R221)", async () => {
  const { log } = await openLog();
  await using transaction = await log.begin(ids.next(), INTENT);
  await transaction.decide("COMMIT");
  const file = join(transaction.folder, "decision");
  const whole = readFileSync(file);
  for (let length = 0; length < whole.length; length += 1) {
    writeFileSync(file, whole.subarray(0, length));
    expect(() => transaction.decision()).toThrowError(
      expect.objectContaining({ code: "RECORD_DAMAGED" }) as Error,
    );
  }
});

it("keeps the outcome when the transaction is cleared away", async () => {
  const { log, path } = await openLog();
  const ulid = ids.next();
  await using transaction = await log.begin(ulid, INTENT);
  expect(transaction.isReversed()).toBe(false);
  await transaction.markReversed(AT);
  expect(transaction.isReversed()).toBe(true);
  await transaction.finish(DONE);
  await transaction.remove();
  expect(readdirSync(join(path, "tx"))).toEqual([]);
  expect(log.isRunning(ulid)).toBe(false);
  expect(log.outcomeOf(ulid)).toEqual(DONE);
  expect(log.history()).toEqual([ulid]);
});

it("leaves no trace of a transaction that could not begin", async () => {
  const { log, path } = await openLog();
  const ulid = ids.next();
  {
    await using first = await log.begin(ulid, INTENT);
    await expect(log.begin(ulid, INTENT)).rejects.toMatchObject({ code: "PLAN_BUSY" });
    expect(first.intent()).toEqual(INTENT);
  }
  await expect(log.begin(ulid, INTENT)).rejects.toMatchObject({ code: "ENOTEMPTY" });
  expect(readdirSync(join(path, "tx"))).toEqual([ulid]);
});
