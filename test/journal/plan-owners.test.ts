import { existsSync, mkdirSync, readdirSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { idKey } from "../../src/journal/id-key.ts";
import { PlanOwners } from "../../src/journal/plan-owners.ts";
import { SandboxStore } from "../../src/journal/sandbox-store.ts";
import { openStateDirectory } from "../../src/journal/state-directory.ts";
import { tempFolder } from "../support/temp.ts";

interface Opened {
  readonly owners: PlanOwners;
  /** The files of all owners. */
  readonly living: string;
  /** The folder of the plan `plan`. */
  readonly plan: string;
}

async function openOwners(): Promise<Opened> {
  const { path } = await openStateDirectory(join(tempFolder(), "state"));
  await new SandboxStore(path).ensurePlan("plan");
  const owners = new PlanOwners(path, "me");
  onTestFinished(() => owners.release());
  return { owners, living: join(path, "owners"), plan: join(path, "plans", idKey("plan")) };
}

it("owns nothing of a plan that is not there", async () => {
  const { owners } = await openOwners();
  await owners.claim("another plan");
  expect(await owners.isOwned("another plan")).toBe(false);
});

it("tells that a plan cannot be marked as owned, and owns it once that is possible (R262)", async () => {
  const { owners, plan } = await openOwners();
  writeFileSync(join(plan, "owners"), "in the way");
  await expect(owners.claim("plan")).rejects.toMatchObject({ code: "ENOTDIR" });
  expect(await owners.isOwned("plan")).toBe(false);
  rmSync(join(plan, "owners"));
  await owners.claim("plan");
  expect(await owners.isOwned("plan")).toBe(true);
});

it("tells that an owner cannot begin, and begins at the next claim (R262)", async () => {
  const { owners, living, plan } = await openOwners();
  rmdirSync(living);
  writeFileSync(living, "in the way");
  await expect(owners.claim("plan")).rejects.toMatchObject({ code: "ENOTDIR" });
  expect(existsSync(join(plan, "owners"))).toBe(false);
  rmSync(living);
  mkdirSync(living);
  await owners.claim("plan");
  expect(await owners.isOwned("plan")).toBe(true);
});

it("tells that an owner's file is none, and leaves it alone (R262)", async () => {
  const { owners, living } = await openOwners();
  mkdirSync(join(living, "folder"));
  await expect(owners.sweep()).rejects.toMatchObject({ code: "EISDIR" });
  expect(readdirSync(living)).toEqual(["folder"]);
  rmdirSync(join(living, "folder"));
  writeFileSync(join(living, "dead"), "");
  await owners.sweep();
  expect(readdirSync(living)).toEqual([]);
});
