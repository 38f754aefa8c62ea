import { execFileSync } from "node:child_process";
import { closeSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
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
import { PLACES, codeOf, openFolder, openPath } from "../folder.ts";

const NOT_UTF8 = "caf\xe9";

/** Every attribute as `getfattr` sees it, a link's own. */
function dumped(path: string): string[] {
  const args = ["-d", "-m", "-", "-h", "-e", "hex", "--absolute-names", "--", path];
  // A path that is not UTF-8 cannot be an argument of a program started by Node.
  const command = ["-0", "getfattr", ...args.slice(0, -1)];
  const output = execFileSync("xargs", command, {
    encoding: "latin1",
    input: Buffer.from(`${path}\0`, "latin1"),
  });
  return output.split("\n").filter((line) => line.includes("="));
}

describe.each(PLACES)("on %s", (place) => {
  test("sets, reads, lists and removes attributes with any bytes as value", () => {
    const { path, fd } = openFolder(place);
    const file = Buffer.from(join(path, NOT_UTF8), "latin1");
    writeFileSync(file, "");
    const value = Buffer.from([0, 255, 10, 0]);
    setXattrAt(fd, NOT_UTF8, "user.second", value);
    setXattrAt(fd, NOT_UTF8, "trusted.first", Buffer.alloc(0));
    expect(listXattrsAt(fd, NOT_UTF8)).toEqual(["trusted.first", "user.second"]);
    expect(getXattrAt(fd, NOT_UTF8, "user.second")).toEqual(value);
    expect(getXattrAt(fd, NOT_UTF8, "trusted.first")).toEqual(Buffer.alloc(0));
    expect(dumped(join(path, NOT_UTF8))).toEqual(["trusted.first=0x", "user.second=0x00ff0a00"]);
    expect(removeXattrAt(fd, NOT_UTF8, "user.second")).toBe(true);
    expect(removeXattrAt(fd, NOT_UTF8, "user.second")).toBe(false);
    expect(getXattrAt(fd, NOT_UTF8, "user.second")).toBeUndefined();
    expect(dumped(join(path, NOT_UTF8))).toEqual(["trusted.first=0x"]);
  });

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

  test("works on a link itself and never on its target", () => {
    const { path, fd } = openFolder(place);
    writeFileSync(join(path, "target"), "");
    symlinkSync("target", join(path, "link"));
    setXattrAt(fd, "target", "trusted.mine", Buffer.from("target"));
    setXattrAt(fd, "link", "trusted.own", Buffer.from("link"));
    expect(listXattrsAt(fd, "link")).toEqual(["trusted.own"]);
    expect(getXattrAt(fd, "link", "trusted.mine")).toBeUndefined();
    expect(removeXattrAt(fd, "link", "trusted.mine")).toBe(false);
    expect(dumped(join(path, "target"))).toEqual(["trusted.mine=0x746172676574"]);
    expect(codeOf(() => setXattrAt(fd, "link", "user.x", Buffer.from("1")))).toBe("EPERM");
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

test("takes the largest value that a file system can hold", () => {
  const { path, fd } = openFolder("tmpfs");
  writeFileSync(join(path, "file"), "");
  const value = Buffer.alloc(65_536, 7);
  setXattrAt(fd, "file", "trusted.large", value);
  expect(getXattrAt(fd, "file", "trusted.large")).toEqual(value);
});

test("finds no attributes where the file system has none", () => {
  const { fd } = openPath("/proc/self/fdinfo");
  expect([listXattrs(fd), getXattr(fd, "user.a"), removeXattr(fd, "user.a")]).toEqual([
    [],
    undefined,
    false,
  ]);
  expect(listXattrsAt(fd, "0")).toEqual([]);
});
