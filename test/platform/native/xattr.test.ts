import { closeSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  AT,
  XATTR,
  getXattr,
  getXattrAt,
  listXattrs,
  listXattrsAt,
  removeXattr,
  removeXattrAt,
  setXattr,
  setXattrAt,
} from "../../../src/platform/native/index.ts";
import { getXattrByPath, listXattrsByPath } from "../../../src/platform/native/xattr.ts";
import { PLACES, codeOf, openFolder, openPath } from "../folder.ts";

describe.each(PLACES)("on %s", (place) => {
  test("does the same through an open file or folder", () => {
    const { path, fd } = openFolder(place);
    writeFileSync(join(path, "file"), "");
    const file = openSync(join(path, "file"), "r");
    onTestFinished(() => closeSync(file));
    for (const open of [file, fd]) {
      setXattr(open, "user.a", Buffer.from("1"));
      expect([listXattrs(open), getXattr(open, "user.a")]).toEqual([["user.a"], Buffer.from("1")]);
      expect(getXattr(open, "user.b")).toBeUndefined();
      expect([removeXattr(open, "user.a"), removeXattr(open, "user.a")]).toEqual([true, false]);
      expect(listXattrs(open)).toEqual([]);
    }
  });

  test("reads the same in the way of older kernels, links themselves and absolute paths included", () => {
    const { path, fd } = openFolder(place);
    writeFileSync(join(path, "file"), "");
    symlinkSync("file", join(path, "link"));
    setXattrAt(fd, "file", "user.a", Buffer.from("1"));
    for (const [folder, name] of [
      [fd, "file"],
      [fd, "link"],
      [AT.workingDirectory, join(path, "file")],
    ] as const) {
      const names = listXattrsAt(folder, name);
      expect(names).toEqual(name === "link" ? [] : ["user.a"]);
      expect(listXattrsByPath(folder, name)).toEqual(names);
      const value = getXattrAt(folder, name, "user.a");
      expect(value).toEqual(name === "link" ? undefined : Buffer.from("1"));
      expect(getXattrByPath(folder, name, "user.a")).toEqual(value);
    }
    for (const list of [listXattrsAt, listXattrsByPath]) {
      expect([codeOf(() => list(fd, "a/b")), codeOf(() => list(fd, "absent"))]).toEqual([
        "EINVAL",
        "ENOENT",
      ]);
    }
  });

  test("creates or replaces only, when told so", () => {
    const { path, fd } = openFolder(place);
    writeFileSync(join(path, "file"), "");
    expect(codeOf(() => setXattrAt(fd, "file", "user.a", Buffer.from("1"), XATTR.replace))).toBe(
      "ENODATA",
    );
    setXattrAt(fd, "file", "user.a", Buffer.from("1"), XATTR.create);
    expect(codeOf(() => setXattrAt(fd, "file", "user.a", Buffer.from("2"), XATTR.create))).toBe(
      "EEXIST",
    );
    setXattrAt(fd, "file", "user.a", Buffer.from("3"), XATTR.replace);
    expect(getXattrAt(fd, "file", "user.a")).toEqual(Buffer.from("3"));
  });

  test("keeps errors apart from absence", () => {
    const { path, fd } = openFolder(place);
    writeFileSync(join(path, "file"), "");
    expect(codeOf(() => getXattrAt(fd, "absent", "user.a"))).toBe("ENOENT");
    expect(codeOf(() => listXattrsAt(fd, "absent"))).toBe("ENOENT");
    expect(codeOf(() => removeXattrAt(fd, "absent", "user.a"))).toBe("ENOENT");
    expect(codeOf(() => getXattr(1_000_000, "user.a"))).toBe("EBADF");
    expect(codeOf(() => listXattrs(1_000_000))).toBe("EBADF");
    expect(codeOf(() => removeXattr(1_000_000, "user.a"))).toBe("EBADF");
    expect(codeOf(() => setXattr(1_000_000, "user.a", Buffer.alloc(1)))).toBe("EBADF");
    expect(codeOf(() => setXattrAt(fd, "file", "nonsense", Buffer.alloc(1)))).toBe("ENOTSUP");
    expect(codeOf(() => setXattrAt(fd, "file", "user.a", Buffer.alloc(65_537)))).toBe("ERANGE");
    expect(codeOf(() => getXattrAt(fd, "a/b", "user.a"))).toBe("EINVAL");
    expect(codeOf(() => listXattrsAt(fd, ""))).toBe("EINVAL");
  });
});

test("finds no attributes where the file system has none", () => {
  const { fd } = openPath("/proc/self/fdinfo");
  expect([listXattrs(fd), getXattr(fd, "user.a")]).toEqual([[], undefined]);
  expect(listXattrsAt(fd, "0")).toEqual([]);
});
