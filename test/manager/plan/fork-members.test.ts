import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { FilesystemCopyStrategy, type SandboxRef } from "../../../src/index.ts";
import { PROBES } from "../../fixtures/probe/probes.ts";
import { failureOf } from "../failure.ts";
import { listing, openSite, run } from "../site.ts";
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
