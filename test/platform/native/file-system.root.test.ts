import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  FILE_SYSTEM,
  projectId,
  renameAt,
  statFileSystem,
} from "../../../src/platform/native/index.ts";
import { codeOf, openFileSystem, openFolder, openPath } from "../folder.ts";

describe.each([
  ["ext4", FILE_SYSTEM.ext],
  ["xfs", FILE_SYSTEM.xfs],
  ["btrfs", FILE_SYSTEM.btrfs],
  ["tmpfs", FILE_SYSTEM.tmpfs],
] as const)("on %s", (kind, type) => {
  test("tells kind and room as GNU stat does", () => {
    const { path, fd } = openFileSystem(kind);
    const info = statFileSystem(fd);
    const format = ["-f", "-c", "%S %b %a %c %d %l", path];
    const { blockSize, blocks, freeBlocks, inodes, freeInodes, maxNameBytes } = info;
    const numbers = [blockSize, blocks, freeBlocks, inodes, freeInodes, maxNameBytes];
    expect(numbers.join(" ")).toBe(execFileSync("stat", format).toString().trim());
    expect(info).toMatchObject({ type, isReadOnly: false });
    execFileSync("mount", ["-o", "remount,ro", path]);
    expect(statFileSystem(fd).isReadOnly).toBe(true);
  });
});

test("tells the quota project, between which a rename is refused", () => {
  const { path, fd } = openFileSystem("xfs");
  mkdirSync(join(path, "other"));
  writeFileSync(join(path, "file"), "");
  execFileSync("xfs_io", ["-c", "chproj 42", "-c", "chattr +P", join(path, "other")]);
  const other = openPath(join(path, "other"));
  expect([projectId(fd), projectId(other.fd)]).toEqual([0, 42]);
  expect(codeOf(() => renameAt(fd, "file", other.fd, "file"))).toBe("EXDEV");
});

test("knows no project where the file system has none", () => {
  expect(projectId(openPath("/proc").fd)).toBeNull();
});

test("refuses a bad descriptor", () => {
  openFolder();
  expect(codeOf(() => statFileSystem(1_000_000))).toBe("EBADF");
  expect(codeOf(() => projectId(1_000_000))).toBe("EBADF");
});
