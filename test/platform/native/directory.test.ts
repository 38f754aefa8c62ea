import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  DirectoryScanner,
  MODE,
  StatBuffer,
  mknodAt,
  readDirectory,
  statAt,
  symlinkAt,
} from "../../../src/platform/native/index.ts";
import { PLACES, codeOf, openFolder, openPath } from "../folder.ts";

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

describe.each(PLACES)("on %s", (place) => {
  test("lists every name byte-exactly with its type", () => {
    const { path, fd } = openFolder(place);
    // All lengths, because records are padded and the padding holds leftovers of longer names.
    for (let length = 255; length > 0; length--) {
      writeFileSync(Buffer.from(join(path, "\xfe".repeat(length)), "latin1"), "");
    }
    for (const name of [".hidden", "..x", "...", ".a"]) mkdirSync(join(path, name));
    symlinkAt("nowhere", fd, "new\nline");
    mknodAt(fd, "fifo", MODE.fifo | 0o600);
    mknodAt(fd, "socket", MODE.socket | 0o600);
    mknodAt(fd, "character", MODE.characterDevice);
    expect(byName(readDirectory(fd))).toEqual(foundBy(path));
  });

  test("lists a folder larger than its buffer, again and again, and an empty one", () => {
    const { path, fd } = openFolder(place);
    expect(readDirectory(fd)).toEqual([]);
    for (let index = 0; index < 3_000; index++) {
      writeFileSync(join(path, `${"n".repeat(200)}${index}`), "");
    }
    const all = foundBy(path);
    expect(all).toHaveLength(3_000);
    expect(byName(readDirectory(fd))).toEqual(all);
    expect(byName(readDirectory(fd))).toEqual(all);
  });

  test("asks about entries while scanning, and says when one has gone", () => {
    const { path, fd } = openFolder(place);
    for (const [name, content] of Object.entries({ a: "1", bb: "22", ccc: "333" })) {
      writeFileSync(join(path, name), content);
    }
    const [scanner, stat] = [new DirectoryScanner(), new StatBuffer()];
    const seen: Record<string, number | null> = {};
    const agrees: boolean[] = [];
    scanner.open(fd);
    while (scanner.next()) {
      expect(scanner.typeBits).toBe(MODE.file);
      if (scanner.name === "bb") rmSync(join(path, "bb"));
      seen[scanner.name] = scanner.stat(stat) ? stat.sizeNumber : null;
      agrees.push(seen[scanner.name] === null || stat.ino === statAt(fd, scanner.name).ino);
    }
    expect(agrees).toEqual([true, true, true]);
    expect(seen).toEqual({ a: 1, bb: null, ccc: 3 });
  });
});

test("refuses what is not an open folder", () => {
  const { path } = openFolder();
  writeFileSync(join(path, "file"), "");
  expect(codeOf(() => readDirectory(openPath(join(path, "file")).fd))).toBe("ENOTDIR");
  expect(codeOf(() => readDirectory(1_000_000))).toBe("EBADF");
});
