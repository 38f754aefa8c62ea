import { existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it } from "vitest";
import { PlanBusyError } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";
import { type ExecSite, openExecSite } from "./site.ts";

/** Starts a command that lasts until a file appears in the sandbox's temporary place. */
async function startLong({ plan, project, run }: ExecSite): Promise<() => Promise<unknown>> {
  const controller = new AbortController();
  const running = run("echo begun > begun.txt; sleep 3600", { signal: controller.signal });
  const workspace = (): boolean => existsSync(join(project, "begun.txt"));
  for (let waited = 0; waited < 200; waited += 1) {
    if (workspace()) throw new Error("the command changed the real resource");
    if (!(await plan.diff()).isEmpty) break;
    await setTimeout(50);
  }
  return () => {
    controller.abort();
    return running;
  };
}

it("while a command runs, the plan can be looked at and nothing else", async () => {
  const site = await openExecSite();
  const { plan, run } = site;
  const stop = await startLong(site);
  const sandbox = plan.sandbox("project");
  const changing = {
    commit: () => plan.commit(),
    rollback: () => plan.rollback(),
    checkpoint: () => plan.checkpoint("one"),
    fork: () => plan.fork("other"),
    cleanup: () => plan.cleanup(),
    write: () => sandbox.write("x", "y"),
    "commit of one": () => sandbox.commit(),
    "clean-up of one": () => sandbox.cleanup(),
    "another command": () => run("true"),
  };
  for (const [name, change] of Object.entries(changing))
    await expect(change(), name).rejects.toBeInstanceOf(PlanBusyError);
  const view = await plan.diff();
  expect(view.resources["project"]?.changes.map(({ path }) => path)).toEqual(["begun.txt"]);
  expect(Buffer.from(await sandbox.read("begun.txt")).toString()).toBe("begun\n");
  expect(await stop()).toMatchObject({ exitCode: 137 });
  expect((await plan.commit()).outcome).toBe("committed");
});

it("nothing is left of a run that has ended", async () => {
  const { coffer, run } = await openExecSite();
  await run("echo x > ~/made; mkdir -m 000 ~/closed");
  expect(readdirSync(join(coffer.stateDirectory, "runs"))).toEqual([]);
});

it("where no namespace can be had the command runs in the workspace, and that is told", async () => {
  const { project, plan, runArgv } = await openExecSite();
  const warnings: string[] = [];
  const env = { PATH: join(project, "nowhere") };
  const onUnenclosed = (reason: string): void => void warnings.push(reason);
  const ran = await runArgv(["/bin/pwd"], { env, onUnenclosed });
  expect(ran).toMatchObject({ exitCode: 0, enclosed: { isEnclosed: false }, outside: null });
  expect(warnings).toHaveLength(1);
  const workspace = await plan.sandbox("project").getPath();
  expect(ran.stdout).toBe(`${workspace}\n`);
  const elsewhere = runArgv(["/bin/pwd"], { env, onUnenclosed, cwd: join(project, "later") });
  await expect(elsewhere).rejects.toMatchObject({ code: "SANDBOX_PATH" });
});

it("a view that cannot be built although the machine can is an error, and no command runs", async () => {
  const { plan, run } = await openExecSite();
  const programs = tempFolder();
  symlinkSync("/bin/false", join(programs, "pivot_root"));
  const env = { ...process.env, PATH: `${programs}:${process.env["PATH"]}` };
  const failing = run("echo new > a.txt", { env });
  await expect(failing).rejects.toMatchObject({ code: "PLATFORM_UNSUPPORTED" });
  expect((await plan.diff()).isEmpty).toBe(true);
  expect((await run("true")).exitCode).toBe(0);
});
