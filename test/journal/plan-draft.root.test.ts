import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { SandboxStore } from "../../src/journal/sandbox-store.ts";
import { openStateDirectory } from "../../src/journal/state-directory.ts";
import { mountFileSystem } from "../support/loop.ts";

/** Takes all but so many of the names that a file system has room for. */
function fill(folder: string, free: number): void {
  mkdirSync(folder);
  const made: string[] = [];
  for (;;) {
    const file = join(folder, `${made.length}`);
    try {
      writeFileSync(file, "");
    } catch {
      break;
    }
    made.push(file);
  }
  for (const file of made.slice(0, free)) rmSync(file);
}

it.each([
  { free: 2, left: 1, what: "before it is locked" },
  { free: 3, left: 0, what: "while its record is written" },
])(
  "tells that a plan cannot be begun when the disk is full $what, and begins it later (R262)",
  async ({ free, left }) => {
    await using disk = mountFileSystem("tmpfs", { mountOptions: ["nr_inodes=50"] });
    const { path } = await openStateDirectory(join(disk.mountPoint, "state"));
    const store = new SandboxStore(path);
    const filled = join(disk.mountPoint, "filled");
    fill(filled, free);
    await expect(store.draftPlan("plan")).rejects.toMatchObject({ code: "ENOSPC" });
    expect(readdirSync(join(path, "plans"))).toHaveLength(left);
    expect(store.drafts()).toHaveLength(left);
    rmSync(filled, { recursive: true });
    await using draft = await store.draftPlan("plan");
    expect(await draft.publish()).toBe(true);
    for (const dead of store.drafts()) dead.remove();
    expect(readdirSync(join(path, "plans"))).toHaveLength(1);
  },
);
