import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Plan, Sandbox } from "../../../src/index.ts";
import { type OracleAspect, expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { act } from "../act.ts";
import { failureOf } from "../failure.ts";
import { listing, run } from "../site.ts";
import { type PlanSite, isPublished, openPlanSite } from "./plan-site.ts";

const STRATEGIES = ["overlay", "copy_on_write", "filesystem_copy"];

async function textOf(plan: Plan, id: string, path = "a"): Promise<string> {
  return Buffer.from(await plan.sandbox(id).read(path)).toString();
}

/** What is left of sandboxes on disk. */
function left({ site }: PlanSite): string[] {
  const folders = ["plans", "area/sandboxes"].map((name) => join(site.stateDirectory, name));
  return folders.flatMap((folder) => readdirSync(folder));
}

/** A view made by a program of its own changes the time of a folder when it copies a file in it up. */
function comparisonFor({ ref }: Sandbox): { readonly ignore: readonly OracleAspect[] } {
  const isFuse = ["fuse", "userns"].includes(ref.metadata["mode"] as string);
  return { ignore: isFuse ? ["directoryMtimes"] : [] };
}

describe.each(STRATEGIES)("a fork over %s", (strategy) => {
  const TWO = { one: strategy, two: "copy_on_write" };

  it("begins with the present state of all sandboxes and goes its own way", async () => {
    const site = await openPlanSite(TWO);
    run("sh", "-euc", SCRIPT, "sh", await site.sandbox("one").getPath());
    const fork = await site.plan.fork("other");
    for (const id of ["one", "two"]) {
      const [before, after] = [site.sandbox(id), fork.sandbox(id)];
      const [mine, theirs] = [await before.getPath(), await after.getPath()];
      expectOracleEqual(takeOracle(mine), takeOracle(theirs), comparisonFor(before));
      expect((await after.diff()).digest).toBe((await before.diff()).digest);
    }
    await fork.sandbox("one").write("a", "theirs\n");
    await site.sandbox("one").write("moved/c", "mine\n");
    expect(await textOf(site.plan, "one")).toBe("by a program\n");
    expect(await textOf(fork, "one", "moved/c")).toBe("old sub/c\n");
    expect(site.before["one"]).toEqual(takeOracle(site.real("one")));
  });

  it("begins with the state of a checkpoint when it is told to", async () => {
    const site = await openPlanSite(TWO);
    await site.plan.checkpoint("kept");
    await site.sandbox("one").write("a", "later\n");
    await site.sandbox("two").write("a", "later\n");
    const fork = await site.plan.fork("other", { from: "kept" });
    expect([await textOf(fork, "one"), await textOf(fork, "two")]).toEqual(["new a\n", "new a\n"]);
    expect(await textOf(site.plan, "one")).toBe("later\n");
    expect(await fork.checkpoints()).toEqual([]);
  });

  it("publishes what it holds, and then the other one's overlapping edits are conflicts", async () => {
    const site = await openPlanSite(TWO);
    const fork = await site.plan.fork("other");
    await fork.sandbox("one").write("a", "theirs\n");
    await site.sandbox("one").write("a", "mine\n");
    await fork.commit();
    expect(run("cat", join(site.real("one"), "a"))).toBe("theirs\n");
    const error = await failureOf(site.plan.commit());
    expect(error).toMatchObject({ code: "ATOMIC_COMMIT", cause: { code: "SANDBOX_CONFLICT" } });
    const { conflicts } = (error.cause as { data: Conflicts }).data;
    expect(conflicts.map(({ path }) => path)).toContain("a");
    expect(run("cat", join(site.real("one"), "a"))).toBe("theirs\n");
    expect(await textOf(site.plan, "one")).toBe("mine\n");
  });

  it("and its origin both commit when they changed different files", async () => {
    const site = await openPlanSite({ one: strategy });
    await site.plan.rollback();
    const fork = await site.plan.fork("other");
    await fork.sandbox("one").write("a", "theirs\n");
    await site.sandbox("one").write("sub/c", "mine\n");
    await site.plan.commit();
    await fork.commit();
    const text = run("cat", join(site.real("one"), "a"), join(site.real("one"), "sub/c"));
    expect(text).toBe("theirs\nmine\n");
  });

  it("finds what others changed since the first sandbox was made, not since the fork", async () => {
    const site = await openPlanSite({ one: strategy });
    writeFileSync(join(site.real("one"), "a"), "somebody else's\n");
    const fork = await site.plan.fork("other");
    const error = await failureOf(fork.commit());
    expect(error).toMatchObject({ cause: { code: "SANDBOX_CONFLICT" } });
    expect(run("cat", join(site.real("one"), "a"))).toBe("somebody else's\n");
  });

  it("outlives its origin, and the origin outlives it; nothing is left of both", async () => {
    for (const first of ["origin", "fork"] as const) {
      const site = await openPlanSite({ one: strategy });
      const fork = await site.plan.fork("other");
      const again = await fork.fork("third");
      const [gone, stays] = first === "origin" ? [site.plan, fork] : [fork, site.plan];
      expect((await gone.cleanup()).failed).toEqual({});
      expect(await textOf(stays, "one")).toBe("new a\n");
      expect(run("cat", join(await stays.sandbox("one").getPath(), "made/new"))).toBe("new file\n");
      await stays.checkpoint("kept");
      await stays.sandbox("one").write("a", "later\n");
      await stays.restoreCheckpoint("kept");
      await stays.rollback();
      expect(await textOf(stays, "one")).toBe("old a\n");
      expect((await stays.cleanup()).failed).toEqual({});
      expect(await textOf(again, "one", "made/new")).toBe("new file\n");
      await again.commit();
      expect(isPublished(site, "one")).toBe(true);
      await again.rollback();
      expect(takeOracle(site.real("one"))).toEqual(site.before["one"]);
      expect((await again.cleanup()).failed).toEqual({});
      expect(left(site)).toEqual([]);
    }
  });

  it("keeps what it began with when the origin is rolled back and edited anew", async () => {
    const site = await openPlanSite({ one: strategy });
    const fork = await site.plan.fork("other");
    const before = takeOracle(await fork.sandbox("one").getPath());
    await site.plan.rollback();
    await site.sandbox("one").write("a", "anew\n");
    await site.plan.checkpoint("anew");
    await site.plan.commit();
    await site.plan.rollback();
    const comparison = comparisonFor(fork.sandbox("one"));
    expectOracleEqual(before, takeOracle(await fork.sandbox("one").getPath()), comparison);
    expect(await textOf(fork, "one", "made/new")).toBe("new file\n");
    const again = await fork.fork("third");
    expectOracleEqual(before, takeOracle(await again.sandbox("one").getPath()), comparison);
  });

  it("is there for another process, by its name alone", async () => {
    const site = await openPlanSite({ one: strategy });
    await site.plan.fork("other");
    const { stateDirectory } = site.site;
    await act({ options: { stateDirectory }, planId: "plan", calls: [["cleanup"]] });
    await act({ options: { stateDirectory }, planId: "other", calls: [["commit"]] });
    expect(isPublished(site, "one")).toBe(true);
  });
});

interface Conflicts {
  readonly conflicts: readonly { readonly path: string }[];
}

const SCRIPT = `cd "$1"; echo "by a program" > a; mv sub moved; ln -s a more; chmod 0600 made/new; mkdir empty`;

it.each(["probe", "none", "silent"])(
  "is refused before anything is made beside a sandbox of %s, which cannot fork",
  async (strategy) => {
    const site = await openPlanSite({ one: "copy_on_write" });
    await site.site.coffer.create("plan", site.site.data, { strategy });
    const before = listing(site.site.stateDirectory);
    expect(await failureOf(site.plan.fork("other"))).toMatchObject({
      code: "UNSUPPORTED_STRATEGY",
      resourceId: site.site.data,
      data: { strategyName: strategy },
    });
    expect(listing(site.site.stateDirectory)).toEqual(before);
  },
);

it("is refused under a name that is taken, and from a checkpoint that is not there", async () => {
  const site = await openPlanSite({ one: "overlay" });
  await site.plan.fork("other");
  const before = left(site);
  for (const name of ["other", "plan"]) {
    expect(await failureOf(site.plan.fork(name))).toMatchObject({
      code: "SANDBOX_CREATION",
      data: { stage: "exists" },
    });
  }
  expect(await failureOf(site.plan.fork("third", { from: "missing" }))).toMatchObject({
    code: "CHECKPOINT",
    data: { reason: "unknown" },
  });
  expect(await failureOf(site.plan.fork(""))).toMatchObject({ code: "SANDBOX_CREATION" });
  const nowhere = await site.site.coffer.plan("nowhere");
  expect(await failureOf(nowhere.fork("third"))).toMatchObject({ code: "SANDBOX_STATE" });
  expect(left(site)).toEqual(before);
});

it("tells that it was made", async () => {
  const site = await openPlanSite({ one: "overlay" });
  await site.plan.fork("other");
  expect(site.site.events.at(-1)).toMatchObject({
    name: "plan.forked",
    data: { planId: "plan", fork: "other" },
  });
  expect(existsSync(join(site.site.stateDirectory, "plans"))).toBe(true);
});
