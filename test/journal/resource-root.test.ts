import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { resourceRoot } from "../../src/journal/resource-root.ts";
import { tempFolder } from "../support/temp.ts";

it("finds the folder of a directory, of a file, and of a place where nothing is yet", () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "file"), "");
  for (const location of [
    folder,
    ...["file", "none", "none/deeper", "file/below"].map((name) => join(folder, name)),
  ]) {
    expect(resourceRoot(location)?.folder, location).toBe(folder);
  }
});

it("knows no folder for a location that is no path of this machine", () => {
  expect(resourceRoot("postgres://db/main")).toBeNull();
  expect(resourceRoot("relative/path")).toBeNull();
});
