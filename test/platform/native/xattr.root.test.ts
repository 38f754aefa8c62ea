import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  getXattrAt,
  listXattrsAt,
  removeXattr,
  removeXattrAt,
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
});

test("takes the largest value that a file system can hold", () => {
  const { path, fd } = openFolder("tmpfs");
  writeFileSync(join(path, "file"), "");
  const value = Buffer.alloc(65_536, 7);
  setXattrAt(fd, "file", "trusted.large", value);
  expect(getXattrAt(fd, "file", "trusted.large")).toEqual(value);
});

test("has nothing to remove where the file system has no attributes", () => {
  const { fd } = openPath("/proc/self/fdinfo");
  expect([removeXattr(fd, "user.a"), removeXattrAt(fd, "0", "user.a")]).toEqual([false, false]);
});
