import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import { type ProbeResult, inspectMachine } from "../../src/index.ts";
import { ProbeStrategy } from "../fixtures/probe/probe-strategy.ts";
import { openSite } from "./site.ts";

it("reports a machine also for a place where no sandbox can be made, and what to do about it (R262)", async () => {
  const { coffer, stateDirectory } = await openSite();
  await coffer.close();
  const before = readdirSync(stateDirectory);
  const report = await inspectMachine(stateDirectory, { stateDirectory, config: false });
  expect(report).toMatchObject({
    path: stateDirectory,
    state: { works: true },
    area: { path: null, foundBy: null, works: false, hint: expect.any(String) as string },
    nativeCalls: { works: true },
    usable: false,
  });
  expect(readdirSync(stateDirectory)).toEqual(before);
});

it("reports a strategy whose trial throws as one that does not work, beside all others (R262)", async () => {
  const { coffer, data } = await openSite();
  class Untried extends ProbeStrategy {
    probe(): Promise<ProbeResult> {
      return Promise.reject(new Error("no trial today"));
    }
  }
  await coffer.registry.register("untried", Untried);
  const { strategies } = await coffer.inspectStrategies(data);
  const found = (name: string): unknown => strategies.find((one) => one.name === name);
  expect(found("untried")).toMatchObject({
    fits: true,
    probe: { works: false, reason: expect.stringContaining("no trial today") as string },
    error: null,
  });
  expect(found("filesystem_copy")).toMatchObject({ probe: { works: true }, error: null });
});
