import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { findLeftovers, processesAround } from "../support/leftovers.ts";
import { removeFolder } from "../support/remove-folder.ts";

/** How long processes that were told to end may take before they count as left behind. */
const GRACE_MILLISECONDS = 5_000;

/**
 * Gives the run a folder of its own, with a temp folder for the tests in it, and fails the run when
 * anything made there outlives the tests: files, mounts, loop devices, processes.
 */
export function setup(): () => Promise<void> {
  const machineArea = `/.cofferdam-${process.getuid?.()}`;
  const machineAreaExisted = existsSync(machineArea);
  const folder = mkdtempSync(join(realpathSync(tmpdir()), "cofferdam-test-"));
  const temp = join(folder, "t");
  mkdirSync(temp);
  // Tests start children under other users, who have to get through to their own folders.
  chmodSync(folder, 0o755);
  chmodSync(temp, 0o755);
  const restoreEnvironment = replaceEnvironment({
    COFFERDAM_TEST_RUN: folder,
    TMPDIR: temp,
    // A test that forgets to name a state directory shows up as a leftover, not in the user's home.
    XDG_STATE_HOME: join(temp, "state-nobody-asked-for"),
    // Each command would compile itself anew in the home of its test.
    XDG_CACHE_HOME: join(folder, "cache"),
  });

  return async function teardown(): Promise<void> {
    restoreEnvironment();
    const deadline = Date.now() + GRACE_MILLISECONDS;
    while (processesAround(temp).length > 0 && Date.now() < deadline) await pause(100);
    const found = findLeftovers(temp);
    if (!machineAreaExisted && existsSync(machineArea)) found.push(`folder ${machineArea}`);
    if (found.length > 0) {
      const lines = found.map((one) => `  ${one}`).join("\n");
      process.stderr.write(`The tests left behind:\n${lines}\n`);
      // The runner reports an error thrown here but still ends with success.
      process.exitCode = 1;
      for (const { pid } of processesAround(temp)) process.kill(pid, "SIGKILL");
    }
    removeFolder(folder);
  };
}

function replaceEnvironment(values: Record<string, string>): () => void {
  const before = Object.keys(values).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, values);
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
}
