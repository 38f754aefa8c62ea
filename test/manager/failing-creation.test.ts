import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Resource, SandboxRef, StrategyClass } from "../../src/index.ts";
import { ProbeStrategy } from "../fixtures/probe/probe-strategy.ts";
import { failureOf } from "./failure.ts";
import { type Site, openSite, reopenSite, run, sandboxOf } from "./site.ts";

/** A strategy that leaves a folder when it fails to make a sandbox, and removes it only while it is able to. */
function clumsy(able: { now: boolean }): StrategyClass {
  return class extends ProbeStrategy {
    override async create(planId: string, resource: Resource): Promise<SandboxRef> {
      mkdirSync(await this.#leftover(resource));
      throw new Error(`no sandbox for ${planId}`);
    }

    async discardCreation(_planId: string, resource: Resource): Promise<void> {
      if (!able.now) throw new Error("not able to");
      rmSync(await this.#leftover(resource), { recursive: true, force: true });
    }

    async #leftover({ location }: Resource): Promise<string> {
      return join((await this.host.areaFor(location)).path, "half-made");
    }
  };
}

interface Leftover {
  /** Opens the installation once more, and tells what was heard meanwhile. */
  readonly reopen: () => Promise<string[]>;
  /** Whether what the strategy left is still there. */
  readonly isThere: () => boolean;
  readonly able: { now: boolean };
  readonly lockFile: string;
  readonly site: Site;
}

const namesOf = ({ events }: Site): string[] => events.map(({ name }) => name);

/** A creation that failed, and whose strategy could not remove what it had made. */
async function keptCreation(): Promise<Leftover> {
  const able = { now: false };
  const strategies = { clumsy: clumsy(able) };
  const site = await openSite({ strategies });
  const failed = site.coffer.create("plan", site.data, { strategy: "clumsy" });
  expect(await failureOf(failed)).toMatchObject({ code: "SANDBOX_CREATION" });
  expect(namesOf(site)).toEqual(["creation.kept", "sandbox.creationFailed"]);
  expect(await site.coffer.list()).toEqual([]);
  await site.coffer.close();
  const { stateDirectory } = site;
  const [plan = ""] = readdirSync(join(stateDirectory, "plans"));
  return {
    site,
    able,
    lockFile: join(stateDirectory, "plans", plan, "lock"),
    isThere: () => existsSync(join(stateDirectory, "area", "half-made")),
    reopen: async () => {
      const again = await reopenSite(site, { strategies });
      await again.coffer.close();
      return namesOf(again);
    },
  };
}

it("tries again at each opening to remove what a strategy could not remove at once (R262)", async () => {
  const { reopen, isThere, able, site } = await keptCreation();
  expect(await reopen()).toEqual(["leftovers.kept"]);
  expect(isThere()).toBe(true);
  able.now = true;
  expect(await reopen()).toEqual(["creation.discarded"]);
  expect(isThere()).toBe(false);
  expect(readdirSync(join(site.stateDirectory, "plans"))).toEqual([]);
});

it("leaves what a failed creation left alone while somebody works on its plan (R262)", async () => {
  const { reopen, isThere, able, lockFile } = await keptCreation();
  able.now = true;
  const holder = spawn("flock", [lockFile, "-c", "echo held; read line"]);
  await once(holder.stdout, "data");
  expect(await reopen()).toEqual([]);
  expect(isThere()).toBe(true);
  holder.stdin.end("go\n");
  await once(holder, "close");
  expect(await reopen()).toEqual(["creation.discarded"]);
  expect(isThere()).toBe(false);
});

it("leaves what a failed creation left alone while its plan cannot be locked, and says so (R262)", async () => {
  const { reopen, isThere, able, lockFile } = await keptCreation();
  able.now = true;
  rmSync(lockFile);
  mkdirSync(lockFile);
  expect(await reopen()).toEqual(["leftovers.kept"]);
  expect(isThere()).toBe(true);
  rmdirSync(lockFile);
  expect(await reopen()).toEqual(["creation.discarded"]);
  expect(isThere()).toBe(false);
});

it("names what stays of a sandbox that could neither be recorded nor removed (R262)", async () => {
  const { coffer, data, stateDirectory } = await openSite();
  const plans = join(stateDirectory, "plans");
  class Blocking extends ProbeStrategy {
    override async create(planId: string, resource: Resource): Promise<SandboxRef> {
      const ref = await super.create(planId, resource);
      const [plan = ""] = readdirSync(plans);
      rmSync(join(plans, plan, "sandboxes"), { recursive: true });
      return ref;
    }

    override cleanup(): Promise<void> {
      return Promise.reject(new Error("not now"));
    }
  }
  await coffer.registry.register("blocking", Blocking);
  const error = await failureOf(coffer.create("plan", data, { strategy: "blocking" }));
  const [kept = ""] = readdirSync(join(stateDirectory, "area"));
  expect(kept).toMatch(/^probe-/);
  expect(error).toMatchObject({
    code: "SANDBOX_CREATION",
    data: { stage: "record", residue: [expect.stringMatching(/^sandbox .*: not now$/)] },
  });
  expect(await coffer.list()).toEqual([]);
  expect(readdirSync(plans)).toEqual([]);
});

it("takes the sandboxes of a new plan away again when one of them cannot be made (R262)", async () => {
  const site = await openSite();
  const { coffer, data, stateDirectory } = site;
  mkdirSync(join(data, "own"));
  const own = await coffer.create("plan", join(data, "own"), { strategy: "probe" });
  const before = readdirSync(join(stateDirectory, "area"));
  const wanted = ["sub", "a", "missing"].map((id) => ({
    id,
    type: id === "a" ? "fs-file" : "fs-directory",
    location: join(data, id),
    sandboxStrategy: "filesystem_copy",
  }));
  expect(await failureOf(coffer.plan("plan", wanted))).toMatchObject({ code: "SANDBOX_CREATION" });
  expect((await coffer.list()).map(({ ref }) => ref)).toEqual([own]);
  expect(readdirSync(join(stateDirectory, "area")).toSorted()).toEqual(
    [...before, "sandboxes"].toSorted(),
  );
  expect(run("ls", join(stateDirectory, "area", "sandboxes"))).toBe("");
  mkdirSync(join(data, "missing"));
  const plan = await coffer.plan("plan", wanted);
  expect((await plan.describe()).sandboxes).toHaveLength(4);
});

it("tells why a plan cannot be made also when a sandbox of it cannot be taken away (R262)", async () => {
  const site = await openSite();
  const { coffer, data, events } = site;
  const able = { now: false };
  class Clinging extends ProbeStrategy {
    override cleanup(ref: SandboxRef): Promise<void> {
      return able.now ? super.cleanup(ref) : Promise.reject(new Error("not able to"));
    }
  }
  await coffer.registry.register("clinging", Clinging);
  const strategies = { sub: "probe", other: "clinging", missing: "probe" };
  mkdirSync(join(data, "other"));
  const wanted = Object.entries(strategies).map(([id, sandboxStrategy]) => ({
    id,
    type: "fs-directory",
    location: join(data, id),
    sandboxStrategy,
  }));
  expect(await failureOf(coffer.plan("plan", wanted))).toMatchObject({
    code: "SANDBOX_CREATION",
    data: { stage: "resource" },
  });
  expect(events.map(({ name }) => name)).toContain("leftovers.kept");
  expect((await coffer.list()).map(({ ref }) => ref.resourceId)).toEqual(["other"]);
  able.now = true;
  await (await coffer.plan("plan")).cleanup();
  expect(readdirSync(join(site.stateDirectory, "area"))).toEqual([]);
});

it("cannot be begun while there is no folder for plans, and can when it is back (R262)", async () => {
  const site = await openSite();
  const { coffer, data, stateDirectory } = site;
  const plans = join(stateDirectory, "plans");
  renameSync(plans, `${plans}-aside`);
  writeFileSync(plans, "");
  expect(await failureOf(coffer.create("plan", data, { strategy: "probe" }))).toMatchObject({
    code: "SANDBOX_CREATION",
    data: { stage: "create", residue: [] },
  });
  expect(existsSync(join(stateDirectory, "area"))).toBe(false);
  rmSync(plans);
  renameSync(`${plans}-aside`, plans);
  const sandbox = await sandboxOf(site, "probe");
  expect(await coffer.status(sandbox.ref)).toBe("CREATED");
});
