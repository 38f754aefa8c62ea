import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { BytePath } from "../../src/model/byte-path.ts";
import { probePlatform } from "../../src/platform/probe.ts";
import { runChild } from "../support/child.ts";
import { ordinaryUser } from "../support/privilege.ts";
import { tempFolder } from "../support/temp.ts";

const PROBE = new URL("./programs/probe.ts", import.meta.url);
const WORKS = { works: true };

test("finds what an ordinary user can do", async () => {
  const user = ordinaryUser();
  const path = user.env["TMPDIR"] ?? "";
  const { stdout, stderr } = await runChild(PROBE, [path], { uid: user.uid });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({
    uid: user.uid,
    nativeCalls: WORKS,
    kernelOverlay: {
      works: false,
      reason: expect.any(String) as unknown,
      hint: expect.any(String) as unknown,
    },
    userNamespaceOverlay: WORKS,
    fuseOverlay: { works: expect.any(Boolean) as unknown },
    exchange: WORKS,
  });
  expect(execFileSync("find", [path, "-mindepth", "1"]).toString()).toBe("");
});

test("finds that nothing works where programs and folders are missing", async () => {
  const path = tempFolder();
  const missing = await probePlatform(join(path, "absent") as BytePath);
  expect(missing).toMatchObject({
    nativeCalls: WORKS,
    kernelOverlay: { works: false },
    reflink: { works: false },
  });
  const { stdout } = await runChild(PROBE, [path], { env: { PATH: join(path, "nothing") } });
  expect(JSON.parse(stdout)).toMatchObject({
    kernelOverlay: { works: false },
    userNamespaceOverlay: { works: false },
    fuseOverlay: { works: false, hint: expect.stringContaining("fuse-overlayfs") as unknown },
    exchange: WORKS,
  });
  expect(execFileSync("find", [path, "-mindepth", "1"]).toString()).toBe("");
});

test("gives up a trial that exceeds its time, and leaves nothing", async () => {
  const path = tempFolder() as BytePath;
  const report = await probePlatform(path, { timeoutMs: 1 });
  expect(report).toMatchObject({ kernelOverlay: { works: false }, exchange: WORKS });
  expect(execFileSync("find", [path, "-mindepth", "1"]).toString()).toBe("");
});
