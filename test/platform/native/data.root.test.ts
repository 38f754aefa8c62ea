import { execFileSync } from "node:child_process";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { cloneFile, syncfs } from "../../../src/platform/native/index.ts";
import { openFileSystem, openFolder } from "../folder.ts";

const BLOCK = 65_536;

function openFile(folder: string, name: string): number {
  const fd = openSync(join(folder, name), "w+");
  onTestFinished(() => closeSync(fd));
  return fd;
}

describe.each(["xfs", "btrfs"] as const)("on %s", (kind) => {
  test("clones a file so that both share their blocks until one is written", () => {
    const { path, fd } = openFileSystem(kind);
    const [from, to] = [openFile(path, "from"), openFile(path, "to")];
    writeSync(from, Buffer.alloc(16 * BLOCK, 1));
    expect(cloneFile(from, to)).toBe(true);
    syncfs(fd);
    expect(execFileSync("filefrag", ["-v", join(path, "to")]).toString()).toContain("shared");
    writeSync(to, "changed", 0);
    expect(readFileSync(join(path, "from")).equals(Buffer.alloc(16 * BLOCK, 1))).toBe(true);
  });

  test("says that it cannot clone from another file system", () => {
    const other = openFolder();
    const { path } = openFileSystem(kind);
    expect(cloneFile(openFile(other.path, "from"), openFile(path, "to"))).toBe(false);
  });
});
