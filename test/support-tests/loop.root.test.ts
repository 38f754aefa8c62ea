import { execFileSync, spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loopDevicesBelow, mountsBelow } from "../support/leftovers.ts";
import { FILE_SYSTEM_KINDS, mountFileSystem } from "../support/loop.ts";

it.for(FILE_SYSTEM_KINDS)("mounts a fresh %s and takes it away again", async (kind) => {
  let mountPoint = "";
  {
    await using disk = mountFileSystem(kind);
    mountPoint = disk.mountPoint;
    const type = execFileSync("stat", ["-f", "-c", "%T", mountPoint], { encoding: "utf8" });
    expect(type.trim()).toBe(kind === "ext4" ? "ext2/ext3" : kind);
    expect(execFileSync("find", [mountPoint, "-mindepth", "1"], { encoding: "utf8" })).toBe("");
    expect(mountsBelow(mountPoint)).toEqual([mountPoint]);
  }
  expect(mountsBelow(mountPoint)).toEqual([]);
  expect(loopDevicesBelow(join(mountPoint, ".."))).toEqual([]);
});

it("gives a file system that truly fills up", async () => {
  await using disk = mountFileSystem("tmpfs", { megabytes: 1 });
  const write = ["if=/dev/zero", `of=${join(disk.mountPoint, "big")}`, "bs=1M", "count=2"];
  expect(spawnSync("dd", write, { encoding: "utf8" }).stderr).toContain("No space left");
});

it("fails on disposal when something still uses the file system", async () => {
  const disk = mountFileSystem("ext4");
  const held = openSync(join(disk.mountPoint, "held"), "w");
  await expect(disk[Symbol.asyncDispose]()).rejects.toThrow();
  closeSync(held);
  expect(mountsBelow(disk.mountPoint)).toEqual([]);
});
