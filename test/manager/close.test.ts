import { expect, it } from "vitest";
import { FilesystemCopyStrategy } from "../../src/index.ts";
import { openSite, sandboxOf } from "./site.ts";

const closed: string[] = [];

class Keeping extends FilesystemCopyStrategy {
  async close(): Promise<void> {
    closed.push("keeping");
    await Promise.resolve();
  }
}

class Failing extends FilesystemCopyStrategy {
  close(): Promise<void> {
    closed.push("failing");
    return Promise.reject(new Error("not now"));
  }
}

it("a strategy is told when the library is closed, and one that fails then harms nobody", async () => {
  const strategies = { failing: Failing, keeping: Keeping };
  const site = await openSite({ strategies });
  const sandbox = await sandboxOf(site, "keeping");
  await sandboxOf(site, "failing", "other");
  expect(closed).toEqual([]);
  await site.coffer.close();
  expect(closed.toSorted()).toEqual(["failing", "keeping"]);
  const told = site.events.filter(({ name }) => name === "strategy.closeFailed");
  expect(told).toMatchObject([{ level: "warning", data: { strategyName: "failing" } }]);
  expect((await sandbox.diff()).isEmpty).toBe(true);
});
