import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { removeTree } from "../../src/tree/remove-tree.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { run, shell } from "./publish/fixture.ts";

function open(folder: string): number {
  const fd = openSync(folder, "r");
  onTestFinished(() => closeSync(fd));
  return fd;
}

test("never enters a bind mount or another file system, and tells which (R234)", () => {
  const folder = tempFolder();
  shell(
    folder,
    "mkdir -p kept gone/bind gone/tmp gone/x; echo 1 > kept/f; echo 2 > gone/x/f; echo 3 > gone/f",
  );
  run("mount", "--bind", join(folder, "kept"), join(folder, "gone/bind"));
  run("mount", "-t", "tmpfs", "tmpfs", join(folder, "gone/tmp"));
  try {
    shell(folder, "echo 4 > gone/tmp/f");
    const kept = takeOracle(join(folder, "kept"));
    expect(removeTree(open(folder), "gone")).toEqual(
      expect.arrayContaining([
        { path: "gone/bind", code: "EXDEV" },
        { path: "gone/tmp", code: "EXDEV" },
      ]),
    );
    expect(run("find", join(folder, "gone"), "-type", "f").split("\n").sort()).toEqual([
      "",
      `${folder}/gone/bind/f`,
      `${folder}/gone/tmp/f`,
    ]);
    expectOracleEqual(kept, takeOracle(join(folder, "kept")));
  } finally {
    run("umount", join(folder, "gone/bind"));
    run("umount", join(folder, "gone/tmp"));
  }
  expect(removeTree(open(folder), "gone")).toEqual([]);
});

test("goes on around an immutable file and tells it", () => {
  const folder = tempFolder();
  shell(
    folder,
    "mkdir -p gone/a gone/b; echo 1 > gone/a/stuck; echo 2 > gone/b/f; echo 3 > gone/f",
  );
  run("chattr", "+i", join(folder, "gone/a/stuck"));
  try {
    expect(removeTree(open(folder), "gone")).toEqual([{ path: "gone/a/stuck", code: "EPERM" }]);
    expect(run("find", join(folder, "gone"), "-type", "f")).toBe(`${folder}/gone/a/stuck\n`);
  } finally {
    run("chattr", "-i", join(folder, "gone/a/stuck"));
  }
  expect(removeTree(open(folder), "gone")).toEqual([]);
});
