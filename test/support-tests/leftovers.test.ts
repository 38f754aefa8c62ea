import { spawn } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { processesAround } from "../support/leftovers.ts";
import { tempFolder } from "../support/temp.ts";

/** Starts a grandchild of this process that names a folder on its command line; children of this one are not counted. */
async function naming(folder: string, env: NodeJS.ProcessEnv): Promise<number> {
  const inner = `sh -c 'echo $$; while :; do sleep 1; done' '${folder}'`;
  const child = spawn("sh", ["-c", `${inner} & wait`], {
    cwd: "/",
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "ignore"],
    detached: true,
  });
  onTestFinished(async () => {
    process.kill(-child.pid!, "SIGKILL");
    await once(child, "close");
  });
  const [text] = (await once(child.stdout, "data")) as [Buffer];
  return Number(text.toString());
}

test.each([
  ["it is of this run", (folder: string) => ({ HOME: dirname(folder) }), true],
  ["nothing says of which run it is", () => ({}), true],
  ["it is of another run", () => ({ TMPDIR: "/tmp/cofferdam-test-AbCdEf/t" }), false],
] as const)("a process that names a folder counts or not when %s", async (_, env, counts) => {
  const folder = tempFolder();
  const pid = await naming(folder, env(folder));
  const found = processesAround(folder).map((one) => one.pid);
  expect(found.includes(pid)).toBe(counts);
});
