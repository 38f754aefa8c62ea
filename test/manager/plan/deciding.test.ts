import { join } from "node:path";
import { expect, it } from "vitest";
import type { CommitResult, StrategyCapabilities } from "../../../src/index.ts";
import { ProbeStrategy } from "../../fixtures/probe/probe-strategy.ts";
import { PROBES } from "../../fixtures/probe/probes.ts";
import { openSite, plantData } from "../site.ts";

/** A strategy whose own commit can be the decision of a plan, as that of a database is. */
function decider(group: string, max: number) {
  return class Decider extends ProbeStrategy {
    protected override usual(): StrategyCapabilities {
      return { ...super.usual(), undoCommit: false, decides: { group, max } };
    }
    commitDeciding(): Promise<readonly CommitResult[]> {
      return Promise.resolve([]);
    }
    decided(): Promise<"COMMIT" | "ABORT"> {
      return Promise.resolve("ABORT");
    }
  };
}

const strategies = { ...PROBES, first: decider("db", 1), other: decider("queue", 2) };

/** What a plan over directories with these strategies promises. */
async function promiseOf(...names: string[]) {
  const site = await openSite({ strategies });
  const resources = names.map((strategy, at) => {
    const location = join(site.data, "..", `real-${at}`);
    plantData(location);
    return { id: `r${at}`, type: "fs-directory", location, sandboxStrategy: strategy };
  });
  const plan = await site.coffer.plan("plan", resources);
  const { promise } = await plan.describe();
  await plan.cleanup();
  return promise;
}

it("promises all or nothing with one member whose own commit is the decision, and names it", async () => {
  expect(await promiseOf("two-phase", "first")).toEqual({
    level: "lastResource",
    lastResource: ["r1"],
    blockers: [],
  });
});

it("promises best effort where two commits would both be the decision", async () => {
  const crowd = await promiseOf("first", "first", "two-phase");
  expect(crowd).toMatchObject({ level: "bestEffort", blockers: [{ resourceId: "r1" }] });
  const groups = await promiseOf("first", "other");
  expect(groups).toMatchObject({ level: "bestEffort", blockers: [{ resourceId: "r1" }] });
  expect(await promiseOf("other", "other")).toMatchObject({ level: "lastResource" });
});
