import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BytePath } from "../../../src/model/byte-path.ts";
import { mountAt, mountsBelow } from "../../../src/platform/mount-table.ts";
import {
  MOUNT,
  UNMOUNT,
  mount,
  unmount,
  unmountAtOnce,
} from "../../../src/platform/native/index.ts";
import { tempFolder } from "../../support/temp.ts";
import { codeOf, openPath } from "../folder.ts";

function target(name = "target"): BytePath {
  const path = join(tempFolder(), name);
  mkdirSync(Buffer.from(path, "latin1"));
  return path as BytePath;
}

test("mounts with type, flags and options, and unmounts", () => {
  const point = target("caf\xe9 \\,:\n");
  mount("coffer", point, "tmpfs", MOUNT.noSuid | MOUNT.noDevices, "size=1m,mode=0700");
  const entry = mountAt(point);
  expect(entry).toMatchObject({ fsType: "tmpfs", source: "coffer" });
  expect(entry?.options).toEqual(expect.arrayContaining(["rw", "nosuid", "nodev"]));
  expect(entry?.superOptions).toEqual(expect.arrayContaining(["size=1024k", "mode=700"]));
  unmount(point);
  expect(mountAt(point)).toBeUndefined();
});

test("binds a folder elsewhere, read-only after a remount", () => {
  const [source, point] = [target("source"), target()];
  writeFileSync(join(source, "file"), "");
  mount(source, point, null, MOUNT.bind);
  mount(null, point, null, MOUNT.bind | MOUNT.remount | MOUNT.readOnly);
  expect(execFileSync("ls", [point]).toString()).toBe("file\n");
  expect(codeOf(() => writeFileSync(join(point, "new"), ""))).toBe("EROFS");
  unmount(point);
});

test("says that a mount is busy, and takes it away lazily when told so", () => {
  const point = target();
  mount("none", point, "tmpfs", 0);
  openPath(point);
  expect(codeOf(() => unmount(point))).toBe("EBUSY");
  expect(mountsBelow(point)).toHaveLength(1);
  unmount(point, UNMOUNT.detach);
  expect(mountsBelow(point)).toEqual([]);
});

test("takes a mount away at once, or says that it could not", () => {
  const point = target();
  expect(unmountAtOnce(point)).toBe(false);
  mount("none", point, "tmpfs", 0);
  const link = join(tempFolder(), "link");
  symlinkSync(point, link);
  expect(unmountAtOnce(link)).toBe(false);
  expect(unmountAtOnce(point)).toBe(true);
  expect(mountsBelow(point)).toEqual([]);
});

test("never unmounts through a link", () => {
  const point = target();
  const link = join(tempFolder(), "link");
  symlinkSync(point, link);
  mount("none", point, "tmpfs", 0);
  expect(codeOf(() => unmount(link))).toBe("EINVAL");
  expect(mountsBelow(point)).toHaveLength(1);
  unmount(point);
});

test("tells what is wrong with a mount", () => {
  const point = target();
  expect(codeOf(() => mount("none", point, "no-such-type", 0))).toBe("ENODEV");
  expect(codeOf(() => mount("none", join(point, "absent"), "tmpfs", 0))).toBe("ENOENT");
  expect(codeOf(() => mount("none", point, "tmpfs", 0, "size=1m,".repeat(600)))).toBe("EINVAL");
  expect(codeOf(() => unmount(point))).toBe("EINVAL");
});
