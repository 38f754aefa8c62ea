import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { idKey } from "../../src/journal/id-key.ts";
import { SandboxStore } from "../../src/journal/sandbox-store.ts";
import { openStateDirectory } from "../../src/journal/state-directory.ts";
import { tempFolder } from "../support/temp.ts";

it("keeps a plan whole that cannot be taken away, and takes it away later (R262)", async () => {
  const { path } = await openStateDirectory(join(tempFolder(), "state"));
  const store = new SandboxStore(path);
  await store.ensurePlan("plan");
  const folder = join(path, "plans", idKey("plan"));
  expect(spawnSync("mount", ["--bind", folder, folder]).status).toBe(0);
  try {
    await expect(store.removeIfEmpty("plan")).rejects.toMatchObject({ code: "EBUSY" });
  } finally {
    spawnSync("umount", [folder]);
  }
  expect(store.hasPlan("plan")).toBe(true);
  await store.removeIfEmpty("plan");
  expect(readdirSync(join(path, "plans"))).toEqual([]);
});
