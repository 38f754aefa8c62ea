import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BytePath } from "../../src/model/byte-path.ts";
import {
  mountAt,
  mountById,
  mountsBelow,
  parseMountTable,
} from "../../src/platform/mount-table.ts";
import { MOUNT, mount, statAt, statFd, unmount } from "../../src/platform/native/index.ts";
import { tempFolder } from "../support/temp.ts";
import { openPath } from "./folder.ts";

function folder(path: string): BytePath {
  mkdirSync(Buffer.from(path, "latin1"));
  return path as BytePath;
}

test("agrees with findmnt about every mount of this machine", () => {
  // Both read one copy, because others may mount something at any moment.
  const copy = join(tempFolder(), "mountinfo");
  writeFileSync(copy, readFileSync("/proc/self/mountinfo"));
  const columns = "ID,PARENT,MAJ:MIN,FSROOT,TARGET,FSTYPE,VFS-OPTIONS,FS-OPTIONS";
  const args = ["--kernel", "--tab-file", copy, "--list", "--json", "--output", columns];
  const output = execFileSync("findmnt", args, { encoding: "utf8" });
  const { filesystems } = JSON.parse(output) as { filesystems: Record<string, unknown>[] };
  const theirs = filesystems.map((entry) => Object.values(entry).map(String).join(" "));
  const ours = parseMountTable(readFileSync(copy, "latin1")).map((entry) =>
    [
      entry.mountId,
      entry.parentId,
      `${entry.devMajor}:${entry.devMinor}`,
      entry.root,
      entry.mountPoint,
      entry.fsType,
      entry.options.join(","),
      entry.superOptions.join(","),
    ].join(" "),
  );
  expect(ours.length).toBeGreaterThan(0);
  expect(ours).toEqual(theirs);
});

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
  expect(entry?.root).toBe(source);
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

test("keeps a comma of a layer inside its option", () => {
  const line = String.raw`45 27 0:39 / /m\040p rw,relatime shared:5 master:1 - overlay overlay rw,lowerdir+=/a\054b,upperdir=/c\134d`;
  expect(parseMountTable(`${line}\n`)).toEqual([
    expect.objectContaining({
      mountPoint: "/m p",
      options: ["rw", "relatime"],
      superOptions: ["rw", "lowerdir+=/a,b", "upperdir=/c\\d"],
    }),
  ]);
});
