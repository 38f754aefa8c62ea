import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BytePath } from "../../src/model/byte-path.ts";
import { mountAt, mountById, mountsBelow } from "../../src/platform/mount-table.ts";
import { MOUNT, mount, statAt, statFd, unmount } from "../../src/platform/native/index.ts";
import { tempFolder } from "../support/temp.ts";
import { openPath } from "./folder.ts";

function folder(path: string): BytePath {
  mkdirSync(Buffer.from(path, "latin1"));
  return path as BytePath;
}

test("gives mount points and sources byte-exactly", () => {
  const point = folder(join(tempFolder(), "caf\xe9 tab\there\nline\\040#"));
  mount("sour ce\\\n\xff#", point, "tmpfs", 0);
  expect(mountAt(point)).toMatchObject({
    mountPoint: point,
    source: "sour ce\\\n\xff#",
    fsType: "tmpfs",
    root: "/",
  });
  unmount(point);
});

test("gives the root of a bind mount, and any number of optional fields", () => {
  const parent = tempFolder();
  const [source, point] = [folder(join(parent, "so urce")), folder(join(parent, "point"))];
  mount(source, point, null, MOUNT.bind);
  execFileSync("mount", ["--make-shared", point]);
  const entry = mountAt(point);
  const around = execFileSync("findmnt", ["-no", "TARGET", "-T", parent], { encoding: "utf8" });
  expect(join(around.trim(), entry?.root ?? "")).toBe(source);
  expect(entry?.mountId).toBe(statAt(openPath("/").fd, `${point}/.`).mountId);
  unmount(point);
});

test("lists the mounts below a path, the deepest and topmost first", () => {
  const parent = tempFolder();
  const outer = folder(join(parent, "a"));
  folder(join(parent, "ab"));
  mount("first", outer, "tmpfs", 0);
  const inner = folder(join(outer, "inner"));
  mount("second", inner, "tmpfs", 0);
  mount("third", inner, "tmpfs", 0);
  mount("beside", join(parent, "ab"), "tmpfs", 0);
  expect(mountsBelow(outer).map(({ source }) => source)).toEqual(["third", "second", "first"]);
  expect(mountAt(inner)?.source).toBe("third");
  expect(mountAt(folder(join(parent, "plain")))).toBeUndefined();
  for (const { mountPoint } of mountsBelow(parent as BytePath)) unmount(mountPoint);
  expect(mountsBelow(parent as BytePath)).toEqual([]);
});

test("finds the visible one of two mounts whose order in the table is turned round", () => {
  const parent = tempFolder();
  const [point, aside] = [folder(join(parent, "point")), folder(join(parent, "aside"))];
  // A mount cannot be moved out of a parent that is shared with other namespaces.
  mount(parent, parent, null, MOUNT.bind);
  mount(null, parent, null, MOUNT.private);
  mount("made first", aside, "tmpfs", 0);
  mount("made second", point, "tmpfs", 0);
  mount(aside, point, null, MOUNT.move);
  expect(mountAt(point)?.source).toBe("made first");
  for (const { mountPoint } of mountsBelow(parent as BytePath)) unmount(mountPoint);
  expect(mountsBelow(parent as BytePath)).toEqual([]);
});

test("finds a mount by the number that an open file has", () => {
  const point = folder(join(tempFolder(), "point"));
  mount("mine", point, "tmpfs", 0);
  expect(mountById(statFd(openPath("/proc").fd).mountId)?.fsType).toBe("proc");
  expect(mountById(mountAt(point)?.mountId ?? -1)?.source).toBe("mine");
  unmount(point);
});
