import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { MODE, StatBuffer, mknodAt, statAt, statFd } from "../../../src/platform/native/index.ts";
import { PLACES, openFileSystem, openFolder } from "../folder.ts";

/** What GNU stat says, in the order of `ours`. */
function theirs(path: string): string {
  const format = "%a %h %u %g %i %d %s %b %.9X %.9Y %.9Z %.9W";
  return execFileSync("stat", ["-c", format, path], { encoding: "utf8" }).trim();
}

function seconds(nanoseconds: bigint): string {
  return `${nanoseconds / 1_000_000_000n}.${String(nanoseconds % 1_000_000_000n).padStart(9, "0")}`;
}

function ours(stat: ReturnType<typeof statAt>): string {
  const { mode, nlink, uid, gid, ino, dev, size, blocks, atimeNs, mtimeNs, ctimeNs, btimeNs } =
    stat;
  const times = [atimeNs, mtimeNs, ctimeNs, btimeNs ?? -1n].map(seconds);
  return [mode.toString(8), nlink, uid, gid, ino, dev, size, blocks, ...times].join(" ");
}

describe.each(PLACES)("on %s", (place) => {
  test("agrees with GNU stat in every field for every type of entry", () => {
    const { path, fd } = openFolder(place);
    writeFileSync(join(path, "file"), "x".repeat(5_000), { mode: 0o640 });
    execFileSync("chmod", ["4755", join(path, "file")]);
    execFileSync("chown", ["77:88", join(path, "file")]);
    mkdirSync(join(path, "directory"), { mode: 0o1777 });
    symlinkSync("file", join(path, "symlink"));
    mknodAt(fd, "fifo", MODE.fifo | 0o600);
    mknodAt(fd, "socket", MODE.socket | 0o600);
    mknodAt(fd, "characterDevice", MODE.characterDevice | 0o600, 1, 3);
    mknodAt(fd, "blockDevice", MODE.blockDevice | 0o600, 7, 9);
    writeFileSync(join(path, "large"), "");
    truncateSync(join(path, "large"), 5_000_000_000);
    const types = [
      "file",
      "directory",
      "symlink",
      "fifo",
      "socket",
      "characterDevice",
      "blockDevice",
    ];
    for (const name of [...types, "large"]) {
      const stat = statAt(fd, name);
      expect(ours(stat), name).toBe(theirs(join(path, name)));
      expect(stat.dev).toBe(lstatSync(join(path, name), { bigint: true }).dev);
    }
    expect(types.map((name) => statAt(fd, name).type)).toEqual(types);
    expect(statAt(fd, "large").size).toBe(5_000_000_000n);
  });
});

test("tells whether an entry is immutable or append-only", () => {
  const { path, fd } = openFolder();
  const buffer = new StatBuffer();
  const pinned = (attribute: string): boolean => {
    execFileSync("chattr", [attribute, join(path, "file")]);
    buffer.readAt(fd, "file");
    return buffer.isPinned;
  };
  writeFileSync(join(path, "file"), "");
  expect(["+i", "-i", "+a", "-a"].map(pinned)).toEqual([true, false, true, false]);
});

test("gives no birth time where the file system keeps none", () => {
  const { path, fd } = openFileSystem("ext4", { formatOptions: ["-I", "128"] });
  writeFileSync(join(path, "file"), "");
  expect(statAt(fd, "file").btimeNs).toBeNull();
});

test("gives the mount's number as in the mount table", () => {
  const { path, fd } = openFileSystem("tmpfs");
  const line = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .find((one) => one.split(" ")[4] === path);
  expect(statFd(fd).mountId).toBe(Number(line?.split(" ")[0]));
});
