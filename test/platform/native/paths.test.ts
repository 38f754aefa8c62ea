import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, readFileSync, symlinkSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  MODE,
  NativeError,
  OPEN,
  RENAME,
  close,
  linkAt,
  linkFd,
  mkdirAt,
  mknodAt,
  openAt,
  openBeneath,
  readlinkAt,
  renameAt,
  rmdirAt,
  statAt,
  statFd,
  symlinkAt,
  unlinkAt,
} from "../../../src/platform/native/index.ts";
import { PLACES, codeOf, openFolder } from "../folder.ts";

const NOT_UTF8 = "caf\xe9\xff\n-x";

/** `find`'s view of a folder: paths, types and link texts, one character a byte. */
function listing(path: string): string[] {
  const args = [path, "-mindepth", "1", "-printf", "%P|%y|%l\\0"];
  return execFileSync("find", args, { encoding: "latin1" }).split("\0").slice(0, -1).sort();
}

function put(path: string, content: string): void {
  writeFileSync(Buffer.from(path, "latin1"), content);
}

describe.each(PLACES)("on %s", (place) => {
  test("makes, links, renames and removes entries whose names are any bytes", () => {
    const { path, fd } = openFolder(place);
    close(openAt(fd, NOT_UTF8, OPEN.create | OPEN.exclusive | OPEN.writeOnly, 0o644));
    mkdirAt(fd, `d${NOT_UTF8}`);
    symlinkAt(`../${NOT_UTF8}\xfe`, fd, `l${NOT_UTF8}`);
    linkAt(fd, NOT_UTF8, fd, `d${NOT_UTF8}/second`);
    renameAt(fd, NOT_UTF8, fd, `renamed${NOT_UTF8}`);
    expect(listing(path)).toEqual(
      [
        `d${NOT_UTF8}|d|`,
        `d${NOT_UTF8}/second|f|`,
        `l${NOT_UTF8}|l|../${NOT_UTF8}\xfe`,
        `renamed${NOT_UTF8}|f|`,
      ].sort(),
    );
    expect(readlinkAt(fd, `l${NOT_UTF8}`)).toBe(`../${NOT_UTF8}\xfe`);
    expect(statAt(fd, `renamed${NOT_UTF8}`).nlink).toBe(2);
    unlinkAt(fd, `d${NOT_UTF8}/second`);
    rmdirAt(fd, `d${NOT_UTF8}`);
    unlinkAt(fd, `l${NOT_UTF8}`);
    unlinkAt(fd, Buffer.from(`renamed${NOT_UTF8}`, "latin1"));
    expect(listing(path)).toEqual([]);
  });

  test("exchanges two entries of different types in one step", () => {
    const { path, fd } = openFolder(place);
    put(join(path, "file"), "content");
    mkdirSync(join(path, "folder"));
    const [file, folder] = [statAt(fd, "file").ino, statAt(fd, "folder").ino];
    renameAt(fd, "file", fd, "folder", RENAME.exchange);
    expect([statAt(fd, "file").ino, statAt(fd, "folder").ino]).toEqual([folder, file]);
    expect(listing(path)).toEqual(["file|d|", "folder|f|"]);
    expect(codeOf(() => renameAt(fd, "file", fd, "absent", RENAME.exchange))).toBe("ENOENT");
  });

  test("refuses to replace an entry when told so", () => {
    const { path, fd } = openFolder(place);
    put(join(path, "new"), "new");
    put(join(path, "old"), "old");
    expect(codeOf(() => renameAt(fd, "new", fd, "old", RENAME.noReplace))).toBe("EEXIST");
    expect(readFileSync(join(path, "old"), "utf8")).toBe("old");
    renameAt(fd, "new", fd, "fresh", RENAME.noReplace);
    expect(listing(path)).toEqual(["fresh|f|", "old|f|"]);
    renameAt(fd, "fresh", fd, "old");
    expect(readFileSync(join(path, "old"), "utf8")).toBe("new");
  });

  test("leaves a whiteout behind when told so", () => {
    const { path, fd } = openFolder(place);
    put(join(path, "gone"), "");
    renameAt(fd, "gone", fd, "moved", RENAME.whiteout);
    expect(listing(path)).toEqual(["gone|c|", "moved|f|"]);
    expect(statAt(fd, "gone")).toMatchObject({ rdevMajor: 0, rdevMinor: 0 });
  });

  test("gives a name to a file that was opened without one", () => {
    const { path, fd } = openFolder(place);
    const file = openAt(fd, ".", OPEN.temporary | OPEN.readWrite, 0o600);
    onTestFinished(() => closeSync(file));
    writeSync(file, "late");
    expect(listing(path)).toEqual([]);
    linkFd(file, fd, "named");
    expect(readFileSync(join(path, "named"), "utf8")).toBe("late");
  });
});

describe("openBeneath", () => {
  test("opens what lies below the root, and the root itself", () => {
    const { path, fd } = openFolder();
    mkdirSync(join(path, "a"));
    put(join(path, "a/b"), "inside");
    const file = openBeneath(fd, "a/../a/b", OPEN.readOnly);
    onTestFinished(() => closeSync(file));
    expect(readFileSync(file, "utf8")).toBe("inside");
    for (const name of ["", "."]) {
      const again = openBeneath(fd, name, OPEN.readOnly | OPEN.directory);
      onTestFinished(() => closeSync(again));
      expect(statFd(again).ino).toBe(statFd(fd).ino);
    }
  });

  test.each([
    ["a parent", "../outside", "EXDEV"],
    ["a parent further down", "a/../../outside", "EXDEV"],
    ["an absolute path", "/etc/passwd", "EXDEV"],
    ["a link at the end", "out", "ELOOP"],
    ["a link on the way", "out/passwd", "ELOOP"],
    ["a link that stays inside", "in/b", "ELOOP"],
    ["a magic link", "magic/b", "ELOOP"],
  ])("refuses %s", (_, name, code) => {
    const { path, fd } = openFolder();
    mkdirSync(join(path, "a"));
    put(join(path, "a/b"), "inside");
    symlinkSync("/etc", join(path, "out"));
    symlinkSync("a", join(path, "in"));
    symlinkSync("/proc/self/cwd", join(path, "magic"));
    expect(codeOf(() => openBeneath(fd, name, OPEN.readOnly))).toBe(code);
  });

  test("refuses a magic link of the process file system", () => {
    const { fd } = openFolder();
    const self = openAt(fd, "/proc/self/fd", OPEN.readOnly | OPEN.directory);
    onTestFinished(() => closeSync(self));
    expect(codeOf(() => openBeneath(self, String(fd), OPEN.readOnly))).toBe("ELOOP");
  });

  test("creates with the asked mode and never lets programs inherit the descriptor", () => {
    const { path, fd } = openFolder();
    const made = openBeneath(fd, "new", OPEN.create | OPEN.exclusive | OPEN.writeOnly, 0o640);
    onTestFinished(() => closeSync(made));
    expect(execFileSync("stat", ["-c", "%a", join(path, "new")]).toString()).toBe("640\n");
    const flags = /flags:\t0*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${made}`, "utf8"))?.[1];
    expect(Number.parseInt(flags ?? "0", 8) & OPEN.closeOnExec).toBe(OPEN.closeOnExec);
  });
});

describe("errors", () => {
  test("have the shape of Node's own, with the path byte-exact", () => {
    const { fd } = openFolder();
    let thrown: unknown;
    try {
      openAt(fd, NOT_UTF8, OPEN.readOnly);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(NativeError);
    expect(thrown).toMatchObject({ code: "ENOENT", errno: -2, syscall: "openat", path: NOT_UTF8 });
  });

  test.each([
    ["a zero byte", "a\0b", "EINVAL"],
    ["a zero byte in a buffer", Buffer.from("a\0b"), "EINVAL"],
    ["a character that is no byte", "a\u0100", "EINVAL"],
    ["more bytes than a path may have", "a/".repeat(2_048), "ENAMETOOLONG"],
    ["more bytes than a name may have", "a".repeat(256), "ENAMETOOLONG"],
  ])("refuse %s instead of shortening the name", (_, name, code) => {
    const { path, fd } = openFolder();
    expect(codeOf(() => openAt(fd, name, OPEN.create | OPEN.writeOnly, 0o600))).toBe(code);
    expect(listing(path)).toEqual([]);
  });

  test("tell both names of a rename that failed", () => {
    const { fd } = openFolder();
    expect(() => renameAt(fd, "absent", fd, "target")).toThrow(
      expect.objectContaining({ code: "ENOENT", path: "absent", destination: "target" }),
    );
    expect(codeOf(() => close(1_000_000))).toBe("EBADF");
    expect(codeOf(() => mkdirAt(fd, "a/b"))).toBe("ENOENT");
    expect(codeOf(() => unlinkAt(fd, "absent"))).toBe("ENOENT");
    expect(codeOf(() => rmdirAt(fd, "absent"))).toBe("ENOENT");
    expect(codeOf(() => symlinkAt("x", fd, "a/b"))).toBe("ENOENT");
    expect(codeOf(() => readlinkAt(fd, "."))).toBe("EINVAL");
    expect(codeOf(() => linkAt(fd, "absent", fd, "b"))).toBe("ENOENT");
    expect(codeOf(() => mknodAt(fd, "a/b", MODE.fifo))).toBe("ENOENT");
  });
});
