import { spawn } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openSite, privateFolder, reopenSite, run, sandboxOf } from "../site.ts";
import { end, startOwner, twoDaysLater } from "./owner.ts";

it("goes on with the other abandoned plans when one cannot be removed, and ends it later (R161)", async () => {
  const site = await openSite();
  const sandboxes = await Promise.all(
    ["one", "two", "three"].map((planId) => sandboxOf(site, "probe", planId)),
  );
  const [stuck, ...others] = sandboxes.map((sandbox) => privateFolder(sandbox));
  const file = join(stuck ?? "", "workspace", "a");
  run("chattr", "+i", file);
  onTestFinished(() => {
    if (existsSync(file)) run("chattr", "-i", file);
  });
  await site.coffer.close();
  const { coffer } = await twoDaysLater(site);
  const { abandoned } = await coffer.cleanupAbandoned();
  const failures = Object.fromEntries(
    abandoned.map(({ planId, failed }) => [planId, Object.values(failed).map(({ code }) => code)]),
  );
  expect(failures).toEqual({ one: ["SANDBOX_CLEANUP"], two: [], three: [] });
  expect(others.map((folder) => existsSync(folder))).toEqual([false, false]);
  expect(existsSync(file)).toBe(true);
  run("chattr", "-i", file);
  // The failed attempt was a use of the plan.
  const again = await coffer.cleanupAbandoned({ idleMs: 0 });
  expect(again.abandoned).toMatchObject([{ planId: "one", failed: {} }]);
  expect(await coffer.list()).toEqual([]);
});

it("is not misled by a new process that has the number of a dead owner (R162)", async () => {
  const site = await openSite();
  const owner = await startOwner(site, "dead");
  const pid = owner.process.pid ?? 0;
  await end(owner, "SIGKILL");
  startWithPid(pid);
  const { coffer } = await twoDaysLater(site);
  expect(run("cat", `/proc/${pid}/comm`)).toBe("sleep\n");
  expect(await coffer.cleanupAbandoned()).toMatchObject({
    abandoned: [{ planId: "dead", failed: {} }],
    spared: {},
  });
  const next = await reopenSite(site);
  expect(await next.coffer.list()).toEqual([]);
});

/** Starts a process under a number that is free. */
function startWithPid(pid: number): void {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    writeFileSync("/proc/sys/kernel/ns_last_pid", String(pid - 1));
    const child = spawn("sleep", ["60"], { stdio: "ignore" });
    if (child.pid === pid) {
      onTestFinished(() => void child.kill("SIGKILL"));
      return;
    }
    child.kill("SIGKILL");
  }
  throw new Error(`no process got the number ${pid}`);
}
