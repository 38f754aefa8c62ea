import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { BytePath } from "../../../src/model/byte-path.ts";
import { mountAt, mountsBelow } from "../../../src/platform/mount-table.ts";
import {
  OVERLAY_METHODS,
  fileHandleAt,
  getXattrAt,
  isSameHandle,
  mountOverlay,
  mountOverlayWith,
  parseOverlayOrigin,
  setXattrAt,
  unmount,
} from "../../../src/platform/native/index.ts";
import { tempFolder } from "../../support/temp.ts";
import { codeOf, openPath } from "../folder.ts";

const OPTIONS = { redirect_dir: "on", index: "off", metacopy: "off", xino: "auto" } as const;
const NAMES = {
  plain: "plain",
  separators: "a,b:c",
  "an option": "x,upperdir=evil",
  backslashes: "back\\slash\\:\\,\\",
  "a newline": "new\nline",
  quotes: "sp ace\"'`$HOME",
  "a leading dash": "-o",
  "bytes that are not UTF-8": "\xff\xfe\xe9",
  "more bytes than one option may have": "L".repeat(255),
};

function bytes(path: string): Buffer {
  return Buffer.from(path, "latin1");
}

/** Two lower layers, an upper one, and where they will appear; all below a folder of the given name. */
function layers(name: string): { at: (part: string) => string; target: BytePath } {
  const root = join(tempFolder(), "x");
  mkdirSync(root);
  const at = (part: string): string => `${root}/${name}/${part}`;
  mkdirSync(bytes(`${root}/${name}`));
  for (const part of ["top", "bottom", "upper", "work", "merged"]) mkdirSync(bytes(at(part)));
  writeFileSync(bytes(at("top/both")), "top");
  writeFileSync(bytes(at("bottom/both")), "bottom");
  writeFileSync(bytes(at("bottom/deep")), "bottom");
  return { at, target: at("merged") as BytePath };
}

function read(path: string): string {
  return readFileSync(bytes(path), "utf8");
}

describe.each(OVERLAY_METHODS)("with layers as %s", (method) => {
  test.each(Object.entries(NAMES))(
    "mounts exactly the given layers below a name with %s",
    (_, name) => {
      const { at, target } = layers(name);
      const lower = [at("top"), at("bottom")];
      mountOverlayWith(method, {
        lower,
        upper: at("upper"),
        work: at("work"),
        target,
        options: OPTIONS,
      });
      writeFileSync(bytes(at("merged/deep")), "changed");
      const seen = [read(at("merged/both")), read(at("bottom/deep")), read(at("upper/deep"))];
      expect(seen).toEqual(["top", "bottom", "changed"]);
      expect(mountAt(target)).toMatchObject({ fsType: "overlay", source: "overlay" });
      unmount(target);
      expect(mountsBelow(target)).toEqual([]);
    },
  );

  test("mounts read-only without an upper layer, under the given source", () => {
    const { at, target } = layers("plain");
    const lower = [at("top"), at("bottom")];
    mountOverlayWith(method, { lower, target, options: { userxattr: true }, source: "coffer" });
    expect(read(at("merged/deep"))).toBe("bottom");
    expect(codeOf(() => writeFileSync(at("merged/new"), ""))).toBe("EROFS");
    expect(mountAt(target)).toMatchObject({ source: "coffer" });
    expect(mountAt(target)?.superOptions).toContain("userxattr");
    unmount(target);
  });

  test("leaves no mount behind when it fails", () => {
    const { at, target } = layers("plain");
    const overlay = { lower: [at("top")], upper: at("upper"), work: at("work"), target };
    expect(codeOf(() => mountOverlayWith(method, { ...overlay, options: { nonsense: "1" } }))).toBe(
      "EINVAL",
    );
    expect(codeOf(() => mountOverlayWith(method, { ...overlay, lower: [at("absent")] }))).toBe(
      "ENOENT",
    );
    expect(codeOf(() => mountOverlayWith(method, { ...overlay, target: at("absent") }))).toBe(
      "ENOENT",
    );
    expect(mountsBelow(target)).toEqual([]);
  });

  test("refuses a link as target", () => {
    const { at, target } = layers("plain");
    symlinkSync(target, at("link"));
    const overlay = { lower: [at("top"), at("bottom")], target: at("link") };
    expect(codeOf(() => mountOverlayWith(method, overlay))).toBe("ENOTDIR");
    expect(mountsBelow(target)).toEqual([]);
  });
});

test("takes the layers as descriptors on this kernel, which the mount table shows plainly", () => {
  const { at, target } = layers("a,b:c");
  const lower = [at("top"), at("bottom")];
  expect(mountOverlay({ lower, upper: at("upper"), work: at("work"), target })).toBe("descriptors");
  const shown = mountAt(target)?.superOptions.filter((option) => /dir\+?=/.test(option));
  expect(shown).toEqual(
    expect.arrayContaining([
      `lowerdir+=${at("top")}`,
      `lowerdir+=${at("bottom")}`,
      `upperdir=${at("upper")}`,
      `workdir=${at("work")}`,
    ]),
  );
  unmount(target);
});

test("mounts more layers than fit into one page of options", () => {
  const root = tempFolder();
  const lower = Array.from({ length: 60 }, (_, index) => join(root, `${"n".repeat(100)}${index}`));
  for (const [index, path] of lower.entries()) {
    mkdirSync(path);
    writeFileSync(join(path, `file${index}`), "");
  }
  const target = join(root, "merged") as BytePath;
  mkdirSync(target);
  mountOverlay({ lower, target });
  expect(execFileSync("ls", [target]).toString().trim().split("\n")).toHaveLength(60);
  unmount(target);
  expect(codeOf(() => mountOverlayWith("optionString", { lower, target }))).toBe("EINVAL");
});

test("tells what the kernel said about a bad option", () => {
  const { at, target } = layers("plain");
  const overlay = { lower: [at("top")], target, options: { nonsense: "1" } };
  expect(() => mountOverlay(overlay)).toThrow(
    expect.objectContaining({ code: "EINVAL", path: "nonsense" }),
  );
  expect(codeOf(() => mountOverlay({ ...overlay, lower: [at("absent")] }))).toBe("ENOENT");
});

test("finds in the origin mark the handle of the file that was copied up", () => {
  const { at, target } = layers("plain");
  const overlay = {
    lower: [at("top"), at("bottom")],
    upper: at("upper"),
    work: at("work"),
    target,
  };
  mountOverlay({ ...overlay, options: OPTIONS });
  writeFileSync(at("merged/deep"), "changed");
  const [upper, bottom] = [openPath(at("upper")), openPath(at("bottom"))];
  const origin = parseOverlayOrigin(
    getXattrAt(upper.fd, "deep", "trusted.overlay.origin") ?? Buffer.alloc(0),
  );
  const handle = (name: string) => fileHandleAt(bottom.fd, name);
  expect(origin !== null && isSameHandle(origin, handle("deep")!)).toBe(true);
  expect(origin !== null && isSameHandle(origin, handle("both")!)).toBe(false);
  unmount(target);
});

describe("fileHandleAt", () => {
  test("stays with the inode over renames and differs for a new one of the same name", () => {
    const path = tempFolder();
    const { fd } = openPath(path);
    writeFileSync(join(path, "file"), "");
    const before = fileHandleAt(fd, "file")!;
    execFileSync("mv", [join(path, "file"), join(path, "moved")]);
    expect(fileHandleAt(fd, "moved")).toEqual(before);
    rmSync(join(path, "moved"));
    writeFileSync(join(path, "file"), "");
    expect(isSameHandle(fileHandleAt(fd, "file")!, before)).toBe(false);
    expect(fileHandleAt(fd, "")).not.toBeNull();
  });

  test("takes a link itself, knows none in /proc, and tells a missing name", () => {
    const path = tempFolder();
    const { fd } = openPath(path);
    writeFileSync(join(path, "file"), "");
    symlinkSync("file", join(path, "link"));
    expect(isSameHandle(fileHandleAt(fd, "link")!, fileHandleAt(fd, "file")!)).toBe(false);
    expect(fileHandleAt(openPath("/proc").fd, "cpuinfo")).toBeNull();
    expect(codeOf(() => fileHandleAt(fd, "absent"))).toBe("ENOENT");
  });

  test("reads no handle from a damaged origin mark", () => {
    const path = tempFolder();
    const { fd } = openPath(path);
    writeFileSync(join(path, "file"), "");
    setXattrAt(fd, "file", "trusted.overlay.origin", Buffer.from("too short"));
    expect(parseOverlayOrigin(getXattrAt(fd, "file", "trusted.overlay.origin")!)).toBeNull();
    expect(parseOverlayOrigin(Buffer.alloc(64))).toBeNull();
  });
});
