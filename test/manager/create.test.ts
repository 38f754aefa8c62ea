import { mkdirSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Resource, SandboxRef, SandboxStrategy, StrategyHost } from "../../src/index.ts";
import { ProbeStrategy } from "../fixtures/probe/probe-strategy.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { act } from "./act.ts";
import { failureOf } from "./failure.ts";
import { edit, listing, openSite, run, sandboxOf } from "./site.ts";

const STRATEGIES = ["probe", "two-phase", "filesystem_copy", "copy_on_write", "overlay"];

describe.each(STRATEGIES)("a new sandbox of %s", (strategy) => {
  it("leaves the resource untouched and tells who chose the strategy (R4)", async () => {
    const site = await openSite();
    const before = takeOracle(site.data);
    const times = run("find", site.data, "-printf", "%P %C@\\n");
    const ref = await site.coffer.create("plan", site.data, { strategy });
    expectOracleEqual(before, takeOracle(site.data));
    expect(run("find", site.data, "-printf", "%P %C@\\n")).toBe(times);
    expect(ref).toMatchObject({ planId: "plan", strategyName: strategy, chosenBy: "call" });
    expect(JSON.parse(JSON.stringify(ref))).toEqual(ref);
    expect(Object.isFrozen(ref.metadata)).toBe(true);
    expect(await site.coffer.list()).toMatchObject([{ ref, status: "CREATED", sequence: 1 }]);
  });

  it("is all that another process needs (R3)", async () => {
    const site = await openSite();
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    const { stateDirectory } = site;
    const orders = { options: { stateDirectory }, ref: sandbox.ref };
    const { results } = await act({
      ...orders,
      calls: [["read", "a"], ["write", "c", "third\n"], ["diff"], ["commit"], ["describe"]],
    });
    expect(results).toMatchObject([
      "new a\n",
      { kind: "added" },
      {
        changes: [
          { path: "a" },
          { path: "b" },
          { path: "c" },
          { path: "made" },
          { path: "made/new" },
        ],
      },
      { added: ["c", "made", "made/new"] },
      { status: "COMMITTED" },
    ]);
    expect(run("cat", join(site.data, "c"))).toBe("third\n");
  });

  it("is freed by cleanup with all that it owned, and committed work stays (R11)", async () => {
    const site = await openSite();
    await (await sandboxOf(site, strategy, "first")).cleanup();
    const before = listing(site.stateDirectory);
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    await sandbox.checkpoint("c");
    await sandbox.getPath();
    await sandbox.commit();
    const committed = takeOracle(site.data);
    await sandbox.cleanup();
    await sandbox.cleanup();
    expectOracleEqual(committed, takeOracle(site.data));
    const isHistory = (line: string): boolean => line.startsWith("done/");
    expect(listing(site.stateDirectory).filter((line) => !isHistory(line))).toEqual(before);
    expect(run("findmnt", "-rno", "TARGET")).not.toContain(site.stateDirectory);
  });
});

it("is the same one when the plan asks again, in twenty calls at once too (R125)", async () => {
  const site = await openSite();
  const refs = await Promise.all(
    Array.from({ length: 20 }, () => site.coffer.create("plan", site.data, { strategy: "probe" })),
  );
  expect(new Set(refs.map((ref) => JSON.stringify(ref))).size).toBe(1);
  expect(readdirSync(join(site.stateDirectory, "area"))).toHaveLength(1);
  await expect(
    site.coffer.create("plan", site.data, { strategy: "two-phase" }),
  ).rejects.toMatchObject({
    code: "SANDBOX_CREATION",
    data: { stage: "exists" },
  });
  expect(await site.coffer.create("other", site.data, { strategy: "probe" })).not.toEqual(refs[0]);
});

it("is numbered in the order of creation, in another process too (R126)", async () => {
  const site = await openSite();
  const names = ["zebra", "10", "9", "apple"];
  for (const name of names) {
    mkdirSync(join(site.data, name));
    await site.coffer.create("plan", join(site.data, name), { strategy: "probe" });
  }
  const { stateDirectory } = site;
  const { results } = await act({ options: { stateDirectory }, calls: [["list", "plan"]] });
  expect(results).toMatchObject([
    names.map((name, at) => ({
      sequence: at + 1,
      resource: { location: join(site.data, name) },
    })),
  ]);
});

it("takes a path, follows links to it, and knows files from directories", async () => {
  const site = await openSite();
  symlinkSync(site.data, `${site.data}-link`);
  const linked = await site.coffer.create("plan", `${site.data}-link`, { strategy: "probe" });
  expect(await site.coffer.describe(linked)).toMatchObject({
    resource: { type: "fs-directory", location: site.data, resourceId: site.data },
  });
  const file = await site.coffer.create("second", join(site.data, "a"), { strategy: "overlay" });
  expect(await site.coffer.describe(file)).toMatchObject({ resource: { type: "fs-file" } });
});

it("is refused with one clear error when the arguments are wrong (R4)", async () => {
  const { coffer, data, stateDirectory } = await openSite();
  const before = listing(stateDirectory);
  const resource = { resourceId: "r", type: "fs-directory", location: data };
  const wrong: readonly [string, Resource | string, string][] = [
    ["plan", join(data, "missing"), "SANDBOX_CREATION"],
    ["plan", { ...resource, location: join(data, "missing") }, "SANDBOX_CREATION"],
    ["", resource, "SANDBOX_CREATION"],
    ["plan", { ...resource, resourceId: "" }, "SANDBOX_CREATION"],
    ["plan", { ...resource, type: "nothing" }, "UNSUPPORTED_STRATEGY"],
    ["plan", { ...resource, sandboxStrategy: "nothing" }, "STRATEGY_NOT_FOUND"],
  ];
  for (const [planId, what, code] of wrong) {
    expect(await failureOf(coffer.create(planId, what))).toMatchObject({ code });
  }
  expect(await coffer.list()).toEqual([]);
  expect(listing(stateDirectory).filter((line) => !line.startsWith("area"))).toEqual(
    before.filter((line) => !line.startsWith("area")),
  );
});

/** Strategies that fail in `create`, each in a way of its own. */
const FAILING: Record<string, (host: StrategyHost, folder: string) => SandboxStrategy["create"]> = {
  rejects: () => () => Promise.reject(new Error("no")),
  throws: () => () => {
    throw new Error("no");
  },
  answersNothing: () => () => Promise.resolve(undefined as unknown as SandboxRef),
  answersAnother: (host) => (_planId, resource) =>
    Promise.resolve(host.newRef("another plan", resource, {})),
};

it.each(Object.keys(FAILING))("is not tracked when its strategy %s (R4, R125)", async (name) => {
  const { coffer, data, stateDirectory, events } = await openSite();
  class Failing extends ProbeStrategy {
    override readonly create = FAILING[name]?.(this.host, data) ?? super.create.bind(this);
  }
  await coffer.registry.register("failing", Failing);
  const error = await failureOf(coffer.create("plan", data, { strategy: "failing" }));
  expect(error).toMatchObject({
    code: "SANDBOX_CREATION",
    data: { residue: [] },
    planId: "plan",
    strategyName: "failing",
  });
  expect(await coffer.list()).toEqual([]);
  expect(readdirSync(join(stateDirectory, "plans"))).toEqual([]);
  expect(events.map((event) => event.name)).toEqual(["sandbox.creationFailed"]);
});

it("is removed again when it cannot be recorded (R4)", async () => {
  const { coffer, data, stateDirectory } = await openSite();
  class Blocking extends ProbeStrategy {
    override async create(planId: string, resource: Resource): Promise<SandboxRef> {
      const ref = await super.create(planId, resource);
      const [plan = ""] = readdirSync(join(stateDirectory, "plans"));
      rmSync(join(stateDirectory, "plans", plan, "sandboxes"), { recursive: true });
      return ref;
    }
  }
  await coffer.registry.register("blocking", Blocking);
  const error = await failureOf(coffer.create("plan", data, { strategy: "blocking" }));
  expect(error).toMatchObject({ code: "SANDBOX_CREATION", data: { stage: "record", residue: [] } });
  expect(readdirSync(join(stateDirectory, "area"))).toEqual([]);
});

it("keeps ids of any kind apart (R236)", async () => {
  const { coffer, data, stateDirectory } = await openSite();
  const ids = ["a/b", "..", "a b", "A B", "--upload-pack=x", "x".repeat(300), "\0", "ü"];
  for (const id of ids) {
    const resource = { resourceId: id, type: "fs-directory", location: join(data, "sub") };
    const sandbox = coffer.sandbox(
      await coffer.create(id, resource, { strategy: "filesystem_copy" }),
    );
    await sandbox.write("c", id);
  }
  for (const { ref } of await coffer.list()) {
    expect(Buffer.from(await coffer.sandbox(ref).read("c")).toString()).toBe(ref.planId);
  }
  expect(await coffer.list()).toHaveLength(ids.length);
  expect(readdirSync(join(stateDirectory, ".."))).toEqual(["data", "state"]);
});
