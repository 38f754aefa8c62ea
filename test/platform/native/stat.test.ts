import { execFileSync } from "node:child_process";
import { closeSync, openSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  OPEN,
  StatBuffer,
  close,
  inodeType,
  openAt,
  statAt,
  statFd,
  statIfThere,
  utimensAt,
} from "../../../src/platform/native/index.ts";
import { PLACES, codeOf, openFolder } from "../folder.ts";

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
  test("tells about an open file and about a handle on a link", () => {
    const { path, fd } = openFolder(place);
    writeFileSync(join(path, "file"), "");
    symlinkSync("file", join(path, "link"));
    const file = openSync(join(path, "file"), "r");
    const link = openAt(fd, "link", OPEN.pathOnly | OPEN.noFollow);
    onTestFinished(() => (closeSync(file), close(link)));
    expect(ours(statFd(file))).toBe(theirs(join(path, "file")));
    expect(ours(statFd(link))).toBe(theirs(join(path, "link")));
  });

  test("gives the buffer's numbers as exactly as its big integers", () => {
    const { path, fd } = openFolder(place);
    writeFileSync(join(path, "file"), "");
    truncateSync(join(path, "file"), 6_000_000_001);
    utimensAt(fd, "file", 0n, -1n);
    const buffer = new StatBuffer();
    buffer.readAt(fd, "file");
    const stat = statAt(fd, "file");
    expect(BigInt(buffer.inoNumber)).toBe(stat.ino);
    expect((BigInt(buffer.inoHigh) << 32n) | BigInt(buffer.inoLow)).toBe(stat.ino);
    expect(BigInt(buffer.sizeNumber)).toBe(6_000_000_001n);
    expect([buffer.mtimeSeconds, buffer.mtimeNanoseconds]).toEqual([-1, 999_999_999]);
    expect(BigInt(buffer.ctimeSeconds) * 1_000_000_000n + BigInt(buffer.ctimeNanoseconds)).toBe(
      stat.ctimeNs,
    );
    expect(inodeType(buffer.mode)).toBe("file");
    expect(buffer.permissions).toBe(stat.mode);
  });
});

test("gives nothing instead of an error for an entry that is not there, when asked so", () => {
  const { path, fd } = openFolder();
  writeFileSync(join(path, "file"), "");
  expect(statIfThere(fd, "file")).toEqual(statAt(fd, "file"));
  expect([statIfThere(fd, "absent"), statIfThere(fd, "file/below")]).toEqual([null, null]);
  expect(codeOf(() => statIfThere(1_000_000, "file"))).toBe("EBADF");
});

test("tells a missing entry from a bad descriptor", () => {
  const { fd } = openFolder();
  expect(codeOf(() => statAt(fd, "absent"))).toBe("ENOENT");
  expect(codeOf(() => statFd(1_000_000))).toBe("EBADF");
});
