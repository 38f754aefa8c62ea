import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { PathEscapeError, SandboxPathError } from "../../src/errors/index.ts";
import { type RelativePath, toBytePath } from "../../src/model/byte-path.ts";
import {
  assertBeneath,
  listBeneath,
  readBeneath,
  removeBeneath,
  renameBeneath,
  statBeneath,
  writeBeneath,
} from "../../src/tree/beneath.ts";
import { startChild } from "../support/child.ts";
import { tempFolder } from "../support/temp.ts";

let root: string;
let outside: string;
let spare: string;

beforeEach(() => {
  const base = tempFolder();
  [root, outside, spare] = [join(base, "root"), join(base, "outside"), join(base, "spare")];
  for (const folder of [root, outside, spare]) mkdirSync(folder);
  writeFileSync(join(outside, "secret"), "do not touch");
  mkdirSync(join(root, "folder"));
  writeFileSync(join(root, "folder/file"), "inside");
  symlinkSync(outside, join(root, "way-out"));
  symlinkSync(join(outside, "secret"), join(root, "direct"));
});

const at = (path: string): RelativePath => toBytePath(path) as RelativePath;
const rootPath = (): ReturnType<typeof toBytePath> => toBytePath(root);

test("reads, writes, lists, moves and removes inside", () => {
  writeBeneath(rootPath(), at("a/b/c"), Buffer.from("new"), toBytePath(spare));
  expect(readBeneath(rootPath(), at("a/b/c")).toString()).toBe("new");
  expect(listBeneath(rootPath(), at("a")).map(({ name, type }) => [name, type])).toEqual([
    ["b", "directory"],
  ]);
  renameBeneath(rootPath(), at("a/b/c"), at("x/y"));
  expect(statBeneath(rootPath(), at("a/b/c"))).toBeNull();
  expect(statBeneath(rootPath(), at("x/y"))?.size).toBe(3);
  removeBeneath(rootPath(), at("x"));
  expect(existsSync(join(root, "x"))).toBe(false);
  expect(execFileSync("ls", [spare], { encoding: "utf8" })).toBe("");
});

test("refuses every way over a link and leaves the other side alone (R227)", () => {
  const attempts: (() => unknown)[] = [
    () => readBeneath(rootPath(), at("way-out/secret")),
    () => readBeneath(rootPath(), at("direct")),
    () => writeBeneath(rootPath(), at("way-out/planted"), Buffer.from("x"), toBytePath(spare)),
    () => listBeneath(rootPath(), at("way-out")),
    () => removeBeneath(rootPath(), at("way-out/secret")),
    () => renameBeneath(rootPath(), at("folder/file"), at("way-out/file")),
    () => renameBeneath(rootPath(), at("way-out/secret"), at("stolen")),
    () => assertBeneath(rootPath(), at("way-out/secret")),
  ];
  for (const attempt of attempts) expect(attempt).toThrow(PathEscapeError);
  expect(execFileSync("ls", [outside], { encoding: "utf8" })).toBe("secret\n");
  expect(readFileSync(join(outside, "secret"), "utf8")).toBe("do not touch");
  expect(existsSync(join(root, "stolen"))).toBe(false);
});

test("gives a typed error for a missing path, a directory, a link and a FIFO without blocking (R5)", () => {
  execFileSync("mkfifo", [join(root, "pipe")]);
  const reasonOf = (work: () => unknown): string => {
    try {
      work();
    } catch (error) {
      if (error instanceof SandboxPathError) return error.data.reason;
      throw error;
    }
    return "none";
  };
  expect(reasonOf(() => readBeneath(rootPath(), at("missing")))).toBe("missing");
  expect(reasonOf(() => readBeneath(rootPath(), at("folder")))).toBe("directory");
  expect(reasonOf(() => readBeneath(rootPath(), at("pipe")))).toBe("special");
  expect(reasonOf(() => readBeneath(rootPath(), at("folder/file/below")))).toBe("notDirectory");
  const write = (path: string): string =>
    reasonOf(() => writeBeneath(rootPath(), at(path), Buffer.from("x"), toBytePath(spare)));
  expect(write("folder")).toBe("directory");
  expect(write("direct")).toBe("symlink");
  expect(write("pipe")).toBe("special");
  expect(reasonOf(() => renameBeneath(rootPath(), at("folder/file"), at("folder")))).toBe("exists");
});

test("never reads or writes outside while a link is swapped in during the call (R227, R232)", async () => {
  mkdirSync(join(root, "contested"));
  writeFileSync(join(root, "contested/secret"), "inside");
  const swapper = await startChild(new URL("./programs/swap-folder.ts", import.meta.url), [
    root,
    outside,
  ]);
  let [inside, refused] = [0, 0];
  try {
    for (let round = 0; round < 10_000; round++) {
      try {
        if (readBeneath(rootPath(), at("contested/secret")).toString() === "inside") inside++;
        writeBeneath(rootPath(), at("contested/planted"), Buffer.from("x"), toBytePath(spare));
      } catch {
        refused++;
      }
    }
  } finally {
    swapper.process.kill("SIGKILL");
    await swapper.result;
  }
  expect(inside + refused).toBeGreaterThan(0);
  expect(execFileSync("ls", [outside], { encoding: "utf8" })).toBe("secret\n");
  expect(readFileSync(join(outside, "secret"), "utf8")).toBe("do not touch");
});

test("says that a name is too long for the system (R262)", () => {
  const long = at("n".repeat(256));
  expect(() => readBeneath(rootPath(), long)).toThrow(
    expect.objectContaining({ code: "SANDBOX_PATH", data: { path: long, reason: "tooLong" } }),
  );
});
