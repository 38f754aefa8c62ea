import { lchownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findConfig } from "../../src/config/find-config.ts";
import { loadConfig } from "../../src/config/load-config.ts";
import { rejection } from "../fixtures/strategies/rejection.ts";
import { nobody } from "../support/nobody.ts";
import { tempFolder } from "../support/temp.ts";

it("does not follow a file of another user that merely lies on the way up", async () => {
  const root = tempFolder();
  const below = join(root, "work/here");
  mkdirSync(below, { recursive: true });
  const planted = join(root, "cofferdam.yaml");
  writeFileSync(planted, "");
  lchownSync(planted, nobody.uid, nobody.gid);
  expect(await rejection(findConfig(below))).toMatchObject({
    code: "CONFIGURATION",
    data: { file: planted },
  });
  expect(await findConfig(below, { trustedOwners: [nobody.uid] })).toBe(planted);
  expect((await loadConfig(planted)).file).toBe(planted);
});

it("does not follow another user's link to a file of one's own", async () => {
  const root = tempFolder();
  const own = join(root, "own.yaml");
  const planted = join(root, "cofferdam.yaml");
  writeFileSync(own, "");
  symlinkSync(own, planted);
  expect(await findConfig(root)).toBe(planted);
  lchownSync(planted, nobody.uid, nobody.gid);
  expect(await rejection(findConfig(root))).toMatchObject({ code: "CONFIGURATION" });
});
