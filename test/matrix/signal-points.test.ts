import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Sandbox } from "../../src/index.ts";
import { oracleDifferences, takeOracle } from "../support/oracle.ts";
import { startActing } from "../manager/act.ts";
import { openSite, sandboxOf } from "../manager/site.ts";

const FILES = 2_000;
const POINTS = 50;

function plantFiles(folder: string): void {
  for (let at = 0; at < FILES; at += 1) {
    const place = join(folder, `folder-${at % 20}`);
    if (at < 20) mkdirSync(place);
    writeFileSync(join(place, `file-${at}`), `old ${at}\n`);
  }
}

/** Commits in another process, which gets a signal after a while, and tells how that process ended. */
async function commitUnderFire(
  stateDirectory: string,
  sandbox: Sandbox,
  delay: number | null,
): Promise<{ readonly signal: NodeJS.Signals | null; readonly took: number }> {
  const child = await startActing({
    options: { stateDirectory },
    ref: sandbox.ref,
    calls: [["commit"]],
    announce: true,
  });
  await once(child.process.stdout, "data");
  const begun = performance.now();
  if (delay !== null) {
    await pause(delay);
    child.process.kill("SIGINT");
  }
  const { signal } = await child.result;
  return { signal, took: performance.now() - begun };
}

it("ends a commit of 2,000 files as old or as new at each of 50 moments of a signal (R30)", async () => {
  const site = await openSite();
  plantFiles(site.data);
  const sandbox = await sandboxOf(site, "filesystem_copy");
  const workspace = await sandbox.getPath();
  for (let at = 0; at < FILES; at += 1) {
    writeFileSync(join(workspace, `folder-${at % 20}`, `file-${at}`), `new ${at}\n`);
  }
  const { stateDirectory } = site;
  const old = takeOracle(site.data);
  const { took } = await commitUnderFire(stateDirectory, sandbox, null);
  const latest = takeOracle(site.data);
  await sandbox.undoCommit();
  const outcomes = new Set<string>();
  for (let point = 0; point < POINTS; point += 1) {
    const { signal } = await commitUnderFire(stateDirectory, sandbox, (took * point) / POINTS);
    const now = takeOracle(site.data);
    const isOld = oracleDifferences(old, now).length === 0;
    const isNew = oracleDifferences(latest, now, { ignore: ["directoryMtimes"] }).length === 0;
    expect([isOld, isNew]).toContain(true);
    const { status, interrupted } = await sandbox.describe();
    expect([status, interrupted]).toEqual([isNew ? "COMMITTED" : "ACTIVE", false]);
    outcomes.add(`${isNew ? "new" : "old"} ${signal}`);
    if (isNew) await sandbox.undoCommit();
  }
  expect([...outcomes]).toContain("old SIGINT");
}, 1_200_000);
