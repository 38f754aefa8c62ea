import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { TwoDisks } from "../support/disk-images.ts";
import { ImageKeeper } from "../support/tracer/image-keeper.ts";

it.each(["ext4", "xfs", "btrfs"] as const)(
  "%s: keeps what was synced and nothing else, and loads it again",
  async (kind) => {
    await using disks = new TwoDisks(kind);
    disks.format();
    const base = disks.unload();
    disks.load(base);
    const { mountPoint } = disks;
    const second = join(mountPoint, "other-device");
    const keep = disks.keeping();
    const keeper = new ImageKeeper(keep);
    writeFileSync(join(mountPoint, "synced"), "on disk");
    execFileSync("sync", ["-f", mountPoint]);
    writeFileSync(join(mountPoint, "later"), "in memory");
    mkdirSync(join(second, "folder"));
    expect(keeper.keep()).toBe(0);
    expect(keeper.keep()).toBe(0);
    execFileSync("sync", ["-f", second]);
    expect(keeper.keep()).toBe(1);
    disks.drop(disks.unload());
    const found = [0, 1].map((at) => {
      disks.load([join(keep.into, `${at}-0`), join(keep.into, `${at}-1`)]);
      const names = [readdirSync(mountPoint), readdirSync(second)].map((list) => list.toSorted());
      disks.drop(disks.unload());
      return names;
    });
    expect(found).toEqual([
      [["other-device", "synced"], []],
      [["other-device", "synced"], ["folder"]],
    ]);
  },
);
