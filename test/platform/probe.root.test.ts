import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BytePath } from "../../src/model/byte-path.ts";
import { probePlatform } from "../../src/platform/probe.ts";
import { tempFolder } from "../support/temp.ts";
import { openFileSystem } from "./folder.ts";
const WORKS = { works: true };

function leftIn(path: string): string {
  const mounts = readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .filter((line) => line.includes(path));
  const files = execFileSync("find", [path, "-mindepth", "1"], { encoding: "latin1" });
  return mounts.slice(1).join("\n") + files;
}

test("finds by trial what root can do on ext4, in a folder of any name, and leaves nothing", async () => {
  const parent = tempFolder();
  const path = join(parent, "caf\xe9, b\\\n") as BytePath;
  mkdirSync(Buffer.from(path, "latin1"));
  expect(await probePlatform(path)).toEqual({
    kernel: execFileSync("uname", ["-r"]).toString().trim(),
    uid: 0,
    nativeCalls: WORKS,
    kernelOverlay: WORKS,
    userNamespaceOverlay: WORKS,
    fuseOverlay: WORKS,
    reflink: {
      works: false,
      reason: expect.stringContaining("ext4") as unknown,
      hint: expect.any(String) as unknown,
    },
    exchange: WORKS,
  });
  expect(execFileSync("find", [parent, "-mindepth", "2"], { encoding: "latin1" })).toBe("");
});

test.each(["xfs", "btrfs"] as const)("finds that %s shares content", async (kind) => {
  const { path } = openFileSystem(kind);
  expect(await probePlatform(path as BytePath)).toMatchObject({
    reflink: WORKS,
    kernelOverlay: WORKS,
  });
  expect(leftIn(path)).toBe("");
});
