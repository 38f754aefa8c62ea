import { closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  FALLOCATE,
  cloneFile,
  copyFileRange,
  fallocate,
  fsync,
  ftruncate,
  seekData,
  seekHole,
  syncfs,
} from "../../../src/platform/native/index.ts";
import { PLACES, codeOf, openFolder } from "../folder.ts";

const BLOCK = 65_536;

function openFile(folder: string, name: string): number {
  const fd = openSync(join(folder, name), "w+");
  onTestFinished(() => closeSync(fd));
  return fd;
}

describe.each(PLACES)("on %s", (place) => {
  test("copies a range to another place without moving either position", () => {
    const { path } = openFolder(place);
    const [from, to] = [openFile(path, "from"), openFile(path, "to")];
    writeSync(from, "0123456789");
    expect(copyFileRange(from, 2, to, 3, 4)).toBe(4);
    expect(copyFileRange(from, 8, to, 7, 100)).toBe(2);
    expect(copyFileRange(from, 10, to, 0, 1)).toBe(0);
    expect(readFileSync(join(path, "to"), "latin1")).toBe("\u0000\u0000\u0000234589");
    writeSync(from, "x");
    expect(readFileSync(join(path, "from"), "utf8")).toBe("0123456789x");
    expect(codeOf(() => copyFileRange(from, 0, 1_000_000, 0, 1))).toBe("EBADF");
  });

  test("finds data and holes of a sparse file", () => {
    const { path } = openFolder(place);
    const file = openFile(path, "sparse");
    ftruncate(file, 4 * BLOCK);
    expect(seekData(file, 0)).toBeNull();
    writeSync(file, Buffer.alloc(BLOCK, 1), 0, BLOCK, 2 * BLOCK);
    expect([seekData(file, 0), seekHole(file, 2 * BLOCK)]).toEqual([2 * BLOCK, 3 * BLOCK]);
    expect([seekHole(file, 0), seekData(file, 3 * BLOCK), seekHole(file, 4 * BLOCK)]).toEqual([
      0,
      null,
      null,
    ]);
    expect(codeOf(() => seekData(1_000_000, 0))).toBe("EBADF");
  });

  test("sets the length, reserves room and punches holes", () => {
    const { path } = openFolder(place);
    const file = openFile(path, "file");
    ftruncate(file, 3_000_000_000);
    expect(statSync(join(path, "file")).size).toBe(3_000_000_000);
    ftruncate(file, 0);
    fallocate(file, FALLOCATE.keepSize, 0, 4 * BLOCK);
    expect(statSync(join(path, "file"))).toMatchObject({ size: 0, blocks: (4 * BLOCK) / 512 });
    fallocate(file, FALLOCATE.grow, 0, 4 * BLOCK);
    writeSync(file, Buffer.alloc(4 * BLOCK, 1));
    fallocate(file, FALLOCATE.punchHole, BLOCK, 2 * BLOCK);
    expect(readFileSync(join(path, "file")).subarray(BLOCK - 1, BLOCK + 1)).toEqual(
      Buffer.from([1, 0]),
    );
    expect(statSync(join(path, "file")).blocks).toBe((2 * BLOCK) / 512);
    expect(codeOf(() => ftruncate(1_000_000, 0))).toBe("EBADF");
    expect(codeOf(() => fallocate(1_000_000, 0, 0, 1))).toBe("EBADF");
  });

  test("says that it cannot clone", () => {
    const { path } = openFolder(place);
    const [from, to] = [openFile(path, "from"), openFile(path, "to")];
    writeSync(from, "content");
    expect(cloneFile(from, to)).toBe(false);
    expect(readFileSync(join(path, "to"), "utf8")).toBe("");
    expect(codeOf(() => cloneFile(from, 1_000_000))).toBe("EBADF");
  });

  test("waits for the disk for files, folders and whole file systems", () => {
    const { path, fd } = openFolder(place);
    const file = openFile(path, "file");
    expect([fsync(file), fsync(fd), syncfs(fd)]).toEqual([undefined, undefined, undefined]);
    expect([codeOf(() => fsync(1_000_000)), codeOf(() => syncfs(1_000_000))]).toEqual([
      "EBADF",
      "EBADF",
    ]);
  });
});
