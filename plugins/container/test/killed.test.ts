import { readdirSync, readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { type RunningChild, startChild } from "../../../test/support/child.ts";
import { Site } from "./site.ts";
import { TestEngine } from "./test-engine.ts";

const engine = new TestEngine();
afterAll(() => engine.close());

const PROGRAM = new URL("programs/run-in-plan.ts", import.meta.url);
const WORK = "echo half > page; echo half > /etc/half; echo ready > ready;";

/** Starts a process that runs a script in a container, and waits until the script is at work: in a sleep of its own. */
async function started(site: Site, script: string): Promise<RunningChild> {
  const args = [site.stateDirectory, engine.configuration(), site.root, script];
  const child = await startChild(PROGRAM, args);
  const [, seconds = ""] = /sleep (\d+)/.exec(script) ?? [];
  await site.until(() => commandLines().some((line) => line.includes(`sleep\u0000${seconds}`)));
  return child;
}

function commandLines(): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8");
      } catch {
        return "";
      }
    });
}

describe("a process that runs a command in a container", () => {
  it("hands a signal on, and gives the exit code that the command answers it with", async () => {
    const site = new Site(engine);
    const script = `trap 'echo heard > heard; exit 9' TERM; ${WORK} sleep 7001 & wait`;
    const child = await started(site, script);
    child.process.kill("SIGTERM");
    expect(await child.result).toMatchObject({ code: 0, stdout: "ended with 9\n" });
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    expect((await site.run(plan, "cat heard page /etc/half")).stdout).toBe("heard\nhalf\nhalf\n");
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });

  it("takes the container with it when it is killed, and what was done so far is kept", async () => {
    const site = new Site(engine);
    const child = await started(site, `${WORK} sleep 7002`);
    child.process.kill("SIGKILL");
    await child.result;
    // Nobody has looked at the plan yet.
    await site.until(() => !commandLines().some((line) => line.includes("sleep\u00007002")));
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    expect((await site.run(plan, "cat page /etc/half")).stdout).toBe("half\nhalf\n");
    expect(site.page()).toBe("old\n");
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });

  it("leaves a container that whoever looks at the sandbox next ends first", async () => {
    const site = new Site(engine);
    const child = await started(site, `${WORK} sleep 7003`);
    child.process.kill("SIGKILL");
    await child.result;
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    expect((await plan.diff()).resources["site"]?.changes.map(({ path }) => path)).toEqual([
      "page",
      "ready",
    ]);
    expect(engine.ask("ps", "--all", "--format", "{{.Names}}")).toBe("");
    await plan.rollback();
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });

  it("leaves a container that a rollback ends, with all that was done in it", async () => {
    const site = new Site(engine);
    const child = await started(site, `${WORK} sleep 7005`);
    child.process.kill("SIGKILL");
    await child.result;
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    await plan.rollback();
    expect(engine.left()).toEqual([]);
    expect((await site.run(plan, "cat page; ls /etc")).stdout).not.toContain("half");
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
  });

  it("leaves a container that a clean-up removes with everything else", async () => {
    const site = new Site(engine);
    const child = await started(site, `${WORK} sleep 7004`);
    child.process.kill("SIGKILL");
    await child.result;
    await using cofferdam = await site.open();
    const plan = await site.plan(cofferdam);
    await plan.cleanup();
    expect(engine.left()).toEqual([]);
    expect(site.page()).toBe("old\n");
  });
});
