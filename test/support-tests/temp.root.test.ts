import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { findLeftovers } from "../support/leftovers.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { createTempFolder, tempFolder } from "../support/temp.ts";

it("gives each test its own empty folder", () => {
  const first = tempFolder();
  const second = tempFolder();
  expect(first).not.toBe(second);
  expect(findLeftovers(first)).toEqual([]);
});

it("removes immutable files, closed folders and names that are not UTF-8", () => {
  const folder = createTempFolder();
  mkdirSync(join(folder, "closed/inner"), { recursive: true });
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/closed/`), Buffer.from([0xff, 0x0a])]), "x");
  writeFileSync(join(folder, "immutable"), "x");
  execFileSync("chattr", ["+i", join(folder, "immutable")]);
  execFileSync("chmod", ["000", join(folder, "closed")]);
  removeFolder(folder);
  expect(existsSync(folder)).toBe(false);
});

it("takes stacked and oddly named mounts away before it removes their folder", () => {
  const folder = createTempFolder();
  const point = join(folder, "a mount\nwith é");
  mkdirSync(point);
  execFileSync("mount", ["-t", "tmpfs", "none", point]);
  execFileSync("mount", ["-t", "tmpfs", "none", point]);
  writeFileSync(join(point, "inside"), "x");
  removeFolder(folder);
  expect(existsSync(folder)).toBe(false);
  expect(execFileSync("findmnt", ["-rn", "-o", "TARGET"], { encoding: "utf8" })).not.toContain(
    folder,
  );
});
