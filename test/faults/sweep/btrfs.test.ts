import { afterAll, beforeAll } from "vitest";
import { type MountedFileSystem, mountFileSystem } from "../../support/loop.ts";
import { removeFolder } from "../../support/remove-folder.ts";
import { createTempFolder } from "../../support/temp.ts";
import { definePlanSweeps } from "../define-plan-sweeps.ts";
import { subvolume } from "../mixed/btrfs.ts";
import { DIRECTORY } from "../mixed/directories.ts";
import { repository } from "../mixed/repository.ts";
import { mixedWorld } from "../mixed/world.ts";
import type { WorldOfSandboxes } from "../shapes/plan.ts";

let disk: MountedFileSystem | undefined;
let folder = "";
let world: WorldOfSandboxes;
beforeAll(() => {
  disk = mountFileSystem("btrfs", { megabytes: 4000 });
  folder = createTempFolder();
  world = mixedWorld([DIRECTORY, repository(folder), subvolume(disk.mountPoint)]);
});
afterAll(async () => {
  await disk?.[Symbol.asyncDispose]();
  removeFolder(folder);
});

definePlanSweeps("a directory, a repository and a subvolume", () => world);
