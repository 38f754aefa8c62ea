import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Cofferdam, type Plan, openCofferdam } from "../../../src/index.ts";
import { mountFileSystem } from "../../support/loop.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { run } from "../site.ts";

const TREE = "mkdir -p d/e; echo one > a; echo two > d/b; echo three > d/e/c";

function shell(folder: string, script: string): string {
  return run("sh", "-euc", `cd "$1"; ${script}`, "sh", folder);
}

async function planOver(coffer: Cofferdam, location: string, mode?: string): Promise<Plan> {
  const properties = mode === undefined ? {} : { mode };
  const resource = { id: "data", type: "fs-directory", location, properties };
  return coffer.plan("plan", [{ ...resource, sandboxStrategy: "overlay" }]);
}

async function openAt(stateDirectory: string): Promise<Cofferdam> {
  return openCofferdam({ stateDirectory, config: false });
}

function makeReal(folder: string): string {
  const real = join(folder, "real");
  mkdirSync(real);
  shell(real, TREE);
  return real;
}

const pathOf = (plan: Plan): Promise<string> => plan.sandbox("data").getPath();
const folderOf = (plan: Plan): string => plan.sandbox("data").ref.metadata["directory"] as string;

it("costs the same however much was edited before: layers are shared, not copied", async () => {
  const sizes: number[] = [];
  for (const count of [3, 600]) {
    const folder = tempFolder();
    await using coffer = await openAt(join(folder, "state"));
    const plan = await planOver(coffer, makeReal(folder), "kernel");
    const script = `mkdir new; for n in $(seq ${count}); do echo $n > new/$n; done`;
    shell(await pathOf(plan), script);
    const fork = await plan.fork("other");
    sizes.push(run("find", folderOf(fork)).split("\n").length);
    expect(readdirSync(join(await pathOf(fork), "new"))).toHaveLength(count);
    await plan.cleanup();
    expect(readdirSync(join(await pathOf(fork), "new"))).toHaveLength(count);
    await fork.cleanup();
  }
  expect(sizes[0]).toBe(sizes[1]);
});

it.each(["state inside the resource", "layers inside the resource"])(
  "works with %s, and shows nothing of ours",
  async (what) => {
    await using disk = mountFileSystem("tmpfs");
    const isNested = what.startsWith("layers");
    const folder = isNested ? tempFolder() : disk.mountPoint;
    const real = isNested ? disk.mountPoint : makeReal(folder);
    if (isNested) shell(real, TREE);
    await using coffer = await openAt(isNested ? join(folder, "state") : join(real, "d/state"));
    const plan = await planOver(coffer, real);
    shell(await pathOf(plan), "echo edited > a; rm -r d/e; echo new > n");
    const fork = await plan.fork("other");
    const shown = shell(await pathOf(fork), "find . -mindepth 1 | sort");
    expect(shown).toBe("./a\n./d\n./d/b\n./n\n");
    await plan.cleanup();
    expect((await fork.commit()).outcome).toBe("committed");
    expect(shell(real, "cat a n")).toBe("edited\nnew\n");
    await fork.cleanup();
  },
);

it("is made also while a program works in the mount, with what is there then", async () => {
  const folder = tempFolder();
  await using coffer = await openAt(join(folder, "state"));
  const plan = await planOver(coffer, makeReal(folder), "kernel");
  shell(await pathOf(plan), "echo edited > a; rm d/b");
  const worker = spawn("sleep", ["600"], { cwd: await pathOf(plan), stdio: "ignore" });
  const ended = once(worker, "exit");
  try {
    const fork = await plan.fork("other");
    const mine = takeOracle(await pathOf(plan));
    expectOracleEqual(mine, takeOracle(await pathOf(fork)));
    shell(await pathOf(plan), "echo later > a");
    expect(shell(await pathOf(fork), "cat a")).toBe("edited\n");
    await fork.cleanup();
  } finally {
    worker.kill();
    await ended;
  }
  await plan.cleanup();
});

it("goes on after any number of layers and forks of forks, whichever go first", async () => {
  const folder = tempFolder();
  await using coffer = await openAt(join(folder, "state"));
  const real = makeReal(folder);
  let plan = await planOver(coffer, real, "kernel");
  const plans = [plan];
  for (let generation = 0; generation < 4; generation += 1) {
    for (let layer = 0; layer < 20; layer += 1) {
      await plan.sandbox("data").write(`g${generation}/${layer}`, `${layer}\n`);
      await plan.checkpoint(`c${layer}`);
    }
    plan = await plan.fork(`fork ${generation}`);
    plans.push(plan);
  }
  const whole = takeOracle(await pathOf(plan));
  const [first, second, third, fourth] = plans;
  for (const gone of [second, first, fourth, third]) {
    expect((await gone?.cleanup())?.failed).toEqual({});
    expectOracleEqual(whole, takeOracle(await pathOf(plan)));
  }
  await plan.commit();
  expect(shell(real, "cat g0/7 g3/19")).toBe("7\n19\n");
  await plan.undo();
  expectOracleEqual(whole, takeOracle(await pathOf(plan)));
  expect((await plan.cleanup()).failed).toEqual({});
  expect(readdirSync(join(folder, "state/area/sandboxes"))).toEqual([]);
});
