import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answerOf } from "./answers.ts";
import { listing, makeHome, run } from "./coffer.ts";

test("says that the disk is full, changes nothing, and leaves nothing of the plan", () => {
  const home = makeHome({ "site/big": "x".repeat(400_000) });
  const disk = join(home.folder, "disk");
  mkdirSync(disk);
  const mount = ["-t", "tmpfs", "-o", "size=256k,mode=700", "tmpfs", disk];
  expect(run(home, "mount", mount).code).toBe(0);
  mkdirSync(join(disk, "site"));
  expect(run(home, "dd", ["if=/dev/zero", `of=${disk}/site/file`, "bs=1k", "count=160"]).code).toBe(
    0,
  );
  const before = listing(join(disk, "site"));
  const state = ["--state", join(disk, "state")];
  const resource = `filesystem_copy+dir:${disk}/site`;
  const { error } = answerOf(home, ["open", "try", "-r", resource, ...state], 1) as {
    error: { code: string };
  };
  expect(["INSUFFICIENT_SPACE", "SANDBOX_CREATION"]).toContain(error.code);
  expect(listing(join(disk, "site"))).toBe(before);
  expect(answerOf(home, ["list", ...state])).toEqual([]);
});
