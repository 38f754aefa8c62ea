import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DirectoryScanner, readDirectory, symlinkAt } from "../../../src/platform/native/index.ts";
import { openFileSystem } from "../folder.ts";

const LETTERS: Record<string, string> = {
  d: "directory",
  f: "file",
  l: "symlink",
  p: "fifo",
  s: "socket",
  c: "characterDevice",
  b: "blockDevice",
};

/** Names and types as `find` sees them. */
function foundBy(path: string): { name: string; type: string | undefined }[] {
  const args = [path, "-mindepth", "1", "-maxdepth", "1", "-printf", "%y%P\\0"];
  const lines = execFileSync("find", args, { encoding: "latin1" }).split("\0").slice(0, -1);
  return byName(lines.map((line) => ({ name: line.slice(1), type: LETTERS[line.charAt(0)] })));
}

function byName<T extends { name: string }>(entries: readonly T[]): T[] {
  return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

test("finds the types itself where the file system does not tell them", () => {
  const { path, fd } = openFileSystem("ext4", { formatOptions: ["-O", "^filetype"] });
  writeFileSync(join(path, "file"), "");
  mkdirSync(join(path, "folder"));
  symlinkAt("x", fd, "link");
  const scanner = new DirectoryScanner();
  scanner.open(fd);
  expect([scanner.next(), scanner.typeBits]).toEqual([true, 0]);
  expect(byName(readDirectory(fd))).toEqual(foundBy(path));
});
