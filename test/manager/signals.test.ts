import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { startActing } from "./act.ts";
import { edit, listing, mark, openSite, sandboxOf, type Site } from "./site.ts";
import { until } from "./until.ts";

/** Lets another process come to a step of a call, sends it a signal there, and lets it go on. */
async function interrupt(
  { stateDirectory }: Site,
  sandbox: Sandbox,
  call: readonly [string, ...unknown[]],
  step: string,
  signal: NodeJS.Signals,
): Promise<NodeJS.Signals | null> {
  const marker = await mark(sandbox, step, "wait");
  const child = await startActing({ options: { stateDirectory }, ref: sandbox.ref, calls: [call] });
  const status = call[0] === "commit" ? "COMMITTING" : "ROLLING_BACK";
  const record = join(stateDirectory, "plans");
  await until(() => isAt(record, status, step, stateDirectory));
  child.process.kill(signal);
  await new Promise((resolve) => setTimeout(resolve, 50));
  rmSync(marker);
  return (await child.result).signal;
}

/** The step has been reached once what comes before it is on disk. */
function isAt(records: string, status: string, step: string, stateDirectory: string): boolean {
  const { stdout } = spawnGrep(status, records);
  if (step === "rollback") return stdout !== "";
  const tx = join(stateDirectory, "tx");
  const wanted = step === "apply" ? "decision" : "intent.json";
  return stdout !== "" && readdirSync(tx).some((name) => existsSync(join(tx, name, wanted)));
}

function spawnGrep(text: string, folder: string): { stdout: string } {
  const { stdout } = spawnSync("grep", ["-rl", "--", text, folder], { encoding: "utf8" });
  return { stdout };
}

describe.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s", (signal) => {
  it("before the decision gives the commit up, then ends the process (R30)", async () => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, "two-phase");
    await edit(sandbox);
    const before = takeOracle(site.data);
    expect(await interrupt(site, sandbox, ["commit"], "prepare", signal)).toBe(signal);
    expectOracleEqual(before, takeOracle(site.data));
    expect(await sandbox.describe()).toMatchObject({ status: "ACTIVE", interrupted: false });
    await sandbox.commit();
  });

  it("after the decision lets the commit end, then ends the process (R30)", async () => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, "two-phase");
    await edit(sandbox);
    expect(await interrupt(site, sandbox, ["commit"], "apply", signal)).toBe(signal);
    expect(await sandbox.describe()).toMatchObject({ status: "COMMITTED", interrupted: false });
    expect(listing(site.data).map((line) => line.split(" ")[0])).toContain("made/new");
  });

  it("lets a rollback end, then ends the process (R30)", async () => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, "two-phase");
    await edit(sandbox);
    expect(await interrupt(site, sandbox, ["rollback"], "rollback", signal)).toBe(signal);
    expect(await sandbox.describe()).toMatchObject({ status: "ROLLED_BACK", interrupted: false });
  });
});
