import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openCofferdam } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";
import { act } from "./act.ts";
import { edit, mark, openSite, plantData, reopenSite, sandboxOf } from "./site.ts";

it("keeps its state where it is told, whatever the configuration says", async () => {
  const folder = tempFolder();
  const config = join(folder, "cofferdam.yaml");
  writeFileSync(config, "state:\n  directory: ./configured\n");
  await using configured = await openCofferdam({ config });
  expect(configured.stateDirectory).toBe(join(folder, "configured"));
  await using told = await openCofferdam({ config, stateDirectory: join(folder, "told") });
  expect(told.stateDirectory).toBe(join(folder, "told"));
  expect(readdirSync(folder).toSorted()).toEqual(["cofferdam.yaml", "configured", "told"]);
});

it("uses resources and strategies of the configuration", async () => {
  const folder = tempFolder();
  plantData(join(folder, "data"));
  const config = join(folder, "cofferdam.yaml");
  const lines = [
    "sandbox:",
    "  strategy: copy_on_write",
    "resources:",
    "  docs:",
    "    type: fs-directory",
    "    location: ./data",
    "    strategy: filesystem_copy",
    "publish:",
    "  exclude: ['*.log']",
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  await using coffer = await openCofferdam({ config, stateDirectory: join(folder, "state") });
  const named = await coffer.create("plan", "docs");
  expect(named).toMatchObject({ strategyName: "filesystem_copy", chosenBy: "resource" });
  const other = await coffer.create("other", join(folder, "data"));
  expect(other).toMatchObject({ strategyName: "copy_on_write", chosenBy: "global" });
  const sandbox = coffer.sandbox(named);
  await sandbox.write("a", "published\n");
  await sandbox.write("noise.log", "stays here\n");
  expect(await sandbox.commit()).toMatchObject({ changed: ["a"], added: [] });
  expect(existsSync(join(folder, "data", "noise.log"))).toBe(false);
});

it("refuses what a broken configuration, state directory or strategy makes impossible", async () => {
  const folder = tempFolder();
  const stateDirectory = join(folder, "state");
  const config = join(folder, "cofferdam.yaml");
  writeFileSync(config, "sandbox:\n  strategy: nothing\n");
  await expect(openCofferdam({ config, stateDirectory })).rejects.toMatchObject({
    code: "CONFIGURATION",
  });
  await expect(openCofferdam({ config: false, stateDirectory: config })).rejects.toMatchObject({
    code: "RECORD_DAMAGED",
  });
  const strategies = { nothing: Date as never };
  await expect(openCofferdam({ config: false, stateDirectory, strategies })).rejects.toMatchObject({
    code: "STRATEGY_VALIDATION",
  });
});

it("lies in the user's state home when nobody says anything", async () => {
  const home = tempFolder();
  await act({ options: {}, calls: [["list"]] }, { HOME: home, XDG_STATE_HOME: join(home, "xdg") });
  expect(existsSync(join(home, "xdg", "cofferdam", "install.json"))).toBe(true);
  await act({ options: {}, calls: [["list"]] }, { HOME: home });
  expect(existsSync(join(home, ".local", "state", "cofferdam", "install.json"))).toBe(true);
});

it("waits for running calls when it is closed", async () => {
  const site = await openSite();
  const sandbox = await sandboxOf(site, "two-phase");
  await edit(sandbox);
  const marker = await mark(sandbox, "apply", "wait");
  const second = await reopenSite(site);
  const order: string[] = [];
  const commit = second.coffer
    .sandbox(sandbox.ref)
    .commit()
    .finally(() => order.push("committed"));
  const closed = second.coffer.close().finally(() => order.push("closed"));
  setTimeout(() => rmSync(marker), 50);
  await Promise.all([commit, closed]);
  expect(order).toEqual(["committed", "closed"]);
});

it("takes time and ids from outside, so that a run can be repeated exactly", async () => {
  const refs = [];
  for (let round = 0; round < 2; round += 1) {
    let next = 0;
    const ids = { next: () => `0000000000000000000000000${next++}` };
    const clock = { now: () => new Date("2024-05-06T07:08:09.123Z") };
    const site = await openSite({ ids, clock });
    const resource = { resourceId: "data", type: "fs-directory", location: site.data };
    const ref = await site.coffer.create("plan", resource, { strategy: "filesystem_copy" });
    refs.push({ ...ref, metadata: {}, baseFingerprintId: "" });
    expect(ref.createdAt).toBe("2024-05-06T07:08:09.123Z");
  }
  expect(refs[0]).toEqual(refs[1]);
});
