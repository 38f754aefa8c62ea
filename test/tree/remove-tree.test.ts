import { closeSync, existsSync, mkdirSync, openSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { toBytePath } from "../../src/model/byte-path.ts";
import { removeBelow } from "../../src/tree/remove-folders.ts";
import { removeTree } from "../../src/tree/remove-tree.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { shell } from "./publish/fixture.ts";

function open(folder: string): number {
  const fd = openSync(folder, "r");
  onTestFinished(() => closeSync(fd));
  return fd;
}

test("removes links but nothing behind them (R234)", () => {
  const folder = tempFolder();
  shell(
    folder,
    "mkdir -p kept/deep gone/a; echo 1 > kept/deep/f; ln -s ../kept gone/l; ln -s ../../kept/deep/f gone/a/l",
  );
  const kept = takeOracle(join(folder, "kept"));
  expect(removeTree(open(folder), "gone")).toEqual([]);
  expect(removeTree(open(folder), "gone")).toEqual([]);
  expect(readdirSync(folder)).toEqual(["kept"]);
  expectOracleEqual(kept, takeOracle(join(folder, "kept")));
});

test("removes a link that stands at the name itself, not its target (R234)", () => {
  const folder = tempFolder();
  shell(folder, "mkdir kept; echo 1 > kept/f; ln -s kept gone");
  expect(removeTree(open(folder), "gone")).toEqual([]);
  expect(readdirSync(join(folder, "kept"))).toEqual(["f"]);
});

test("removes closed folders, special files and awkward names", () => {
  const folder = tempFolder();
  shell(
    folder,
    String.raw`mkdir -p gone/a/b/c gone/$'x\n\377'; echo 1 > gone/a/b/c/f; mkfifo gone/a/p; echo 2 > gone/$'x\n\377'/'*'
      chmod 000 gone/a/b/c gone/a/b gone/a; chmod 500 gone`,
  );
  expect(removeTree(open(folder), "gone")).toEqual([]);
  expect(readdirSync(folder)).toEqual([]);
});

test("removes very deep folders", () => {
  const folder = tempFolder();
  shell(folder, "mkdir gone; cd gone; for i in $(seq 600); do mkdir d; cd d; done");
  expect(removeTree(open(folder), "gone")).toEqual([]);
  expect(existsSync(join(folder, "gone"))).toBe(false);
});

test("removes a single file", () => {
  const folder = tempFolder();
  mkdirSync(join(folder, "d"));
  writeFileSync(join(folder, "f"), "x");
  expect(removeTree(open(folder), "f")).toEqual([]);
  expect(readdirSync(folder)).toEqual(["d"]);
});

test("has nothing to remove below a folder that is gone (R262)", () => {
  const folder = join(tempFolder(), "gone");
  expect(removeBelow(toBytePath(folder))).toEqual([]);
  expect(existsSync(folder)).toBe(false);
});
