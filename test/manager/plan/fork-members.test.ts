import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FilesystemCopyStrategy, type SandboxRef } from "../../../src/index.ts";
import { PROBES } from "../../fixtures/probe/probes.ts";
import { failureOf } from "../failure.ts";
import { listing, openSite, reopenSite, run } from "../site.ts";
import { openPlanSite } from "./plan-site.ts";

class Unwilling extends FilesystemCopyStrategy {
  override fork(): Promise<SandboxRef> {
    return Promise.reject(new Error("not today"));
  }
}

/** Makes the fork, and gives a ref of something else. */
class Mistaken extends FilesystemCopyStrategy {
  override async fork(...call: Parameters<FilesystemCopyStrategy["fork"]>): Promise<SandboxRef> {
    return { ...(await super.fork(...call)), resourceId: "another" };
  }
}

it.each([
  ["unwilling", "fork"],
  ["mistaken", "ref"],
])("leaves nothing of the others when the strategy of the last is %s", async (strategy, stage) => {
  const strategies = { ...PROBES, unwilling: Unwilling, mistaken: Mistaken };
  const members = { one: "overlay", two: "copy_on_write", three: strategy };
  const site = await openPlanSite(members, {}, { strategies });
  await site.plan.checkpoint("kept");
  const before = listing(site.site.stateDirectory);
  expect(await failureOf(site.plan.fork("other", { from: "kept" }))).toMatchObject({
    code: "SANDBOX_CREATION",
    resourceId: "three",
    data: { stage },
  });
  const isLendersOwn = (line: string): boolean => /\/lent d \d+$/.test(line);
  const after = listing(site.site.stateDirectory).filter((line) => !isLendersOwn(line));
  const withoutSizes = (lines: readonly string[]): string[] =>
    lines.map((line) => line.replace(/ d \d+$/, " d"));
  expect(withoutSizes(after)).toEqual(withoutSizes(before));
  expect(await site.site.coffer.list("other")).toEqual([]);
});

it.each(["overlay", "copy_on_write", "filesystem_copy"])(
  "has the base of the first sandbox for merges where it was kept, over %s",
  async (strategy) => {
    const site = await openSite();
    const real = join(site.data, "..", "real");
    const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join("");
    mkdirSync(real);
    writeFileSync(join(real, "text"), lines);
    const properties = { base: "keep" };
    const resource = { id: "r", type: "fs-directory", location: real, properties };
    const plan = await site.coffer.plan("plan", [{ ...resource, sandboxStrategy: strategy }]);
    await plan.sandbox("r").write("text", `${lines}bottom\n`);
    writeFileSync(join(real, "text"), `top\n${lines}`);
    const fork = await plan.fork("other");
    expect(await failureOf(fork.commit())).toMatchObject({ code: "ATOMIC_COMMIT" });
    await fork.commit({ merge: true });
    expect(run("cat", join(real, "text"))).toBe(`top\n${lines}bottom\n`);
  },
);

/** Forks, and does not let go of what it made while it is told so. */
function clinging(isHeld: () => boolean): typeof FilesystemCopyStrategy {
  return class extends FilesystemCopyStrategy {
    override cleanup(...call: Parameters<FilesystemCopyStrategy["cleanup"]>): Promise<void> {
      return isHeld() ? Promise.reject(new Error("held")) : super.cleanup(...call);
    }
  };
}

it("leaves what it cannot remove of a failed fork to the next opening (R262)", async () => {
  let isHeld = true;
  const strategies = { ...PROBES, unwilling: Unwilling, clinging: clinging(() => isHeld) };
  const site = await openPlanSite({ one: "clinging", two: "unwilling" }, {}, { strategies });
  const { stateDirectory, events } = site.site;
  const sandboxes = (): string[] => readdirSync(join(stateDirectory, "area", "sandboxes"));
  expect(sandboxes()).toHaveLength(2);
  expect(await failureOf(site.plan.fork("other"))).toMatchObject({
    code: "SANDBOX_CREATION",
    resourceId: "two",
    data: { stage: "fork" },
  });
  expect(events.map(({ name }) => name)).toContain("creation.kept");
  expect(await site.site.coffer.list("other")).toEqual([]);
  expect(sandboxes()).toHaveLength(3);
  isHeld = false;
  const next = await reopenSite(site.site, { strategies });
  expect(next.events.map(({ name }) => name)).toContain("creation.discarded");
  expect(sandboxes()).toHaveLength(2);
  expect(readdirSync(join(stateDirectory, "plans"))).toHaveLength(1);
});
