import { chmodSync, existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { findLeftovers, processesAround } from "../support/leftovers.ts";
import { removeFolder } from "../support/remove-folder.ts";

/** How long processes that were told to end may take before they count as left behind. */
const GRACE_MILLISECONDS = 5_000;

/**
 * Gives the run a temp folder of its own, below the machine's, and fails the run when anything made
 * in it outlives the tests: files, mounts, loop devices, processes.
 */
export function setup(): () => Promise<void> {
  const before = { TMPDIR: process.env["TMPDIR"], XDG_STATE_HOME: process.env["XDG_STATE_HOME"] };
  const machineArea = `/.cofferdam-${process.getuid?.()}`;
  const machineAreaExisted = existsSync(machineArea);
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "cofferdam-test-run-"));
  // Tests start children under other users, who have to get through to their own folders.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  // A test that forgets to name a state directory shows up as a leftover, not in the user's home.
  process.env["XDG_STATE_HOME"] = join(folder, "state-nobody-asked-for");

  return async function teardown(): Promise<void> {
    Object.assign(process.env, before);
    for (const name of Object.keys(before) as (keyof typeof before)[]) {
      if (before[name] === undefined) delete process.env[name];
    }
    const deadline = Date.now() + GRACE_MILLISECONDS;
    let found = findLeftovers(folder);
    while (found.some((one) => one.startsWith("process")) && Date.now() < deadline) {
      await pause(100);
      found = findLeftovers(folder);
    }
    if (!machineAreaExisted && existsSync(machineArea)) found.push(`folder ${machineArea}`);
    if (found.length > 0) {
      const lines = found.map((one) => `  ${one}`).join("\n");
      process.stderr.write(`The tests left behind:\n${lines}\n`);
      // The runner reports an error thrown here but still ends with success.
      process.exitCode = 1;
      for (const { pid } of processesAround(folder)) process.kill(pid, "SIGKILL");
    }
    removeFolder(folder);
  };
}
