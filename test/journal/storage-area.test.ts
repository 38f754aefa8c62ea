import { spawnSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { listAreas } from "../../src/journal/area-list.ts";
import { openStateDirectory } from "../../src/journal/state-directory.ts";
import { findArea } from "../../src/journal/storage-area.ts";
import { tempFolder } from "../support/temp.ts";

function times(path: string): string {
  return spawnSync("find", [path, "-printf", "%P %T@ %C@ %i %m\n"], { encoding: "utf8" }).stdout;
}

async function setUp(): Promise<{ folder: string; stateDirectory: string; data: string }> {
  const folder = tempFolder();
  const { path } = await openStateDirectory(join(folder, "state"));
  const data = join(folder, "data");
  mkdirSync(data);
  writeFileSync(join(data, "file"), "content");
  return { folder, stateDirectory: path, data };
}

it("uses the state directory when it is on the resource's device, and changes nothing there (R233)", async () => {
  const { stateDirectory, data } = await setUp();
  const before = times(data);
  const area = await findArea(data, { stateDirectory });
  expect(area).toEqual({ path: join(stateDirectory, "area"), foundBy: "state", ownPaths: [] });
  expect(times(data)).toBe(before);
  expect(spawnSync("stat", ["-c", "%a %F", area.path]).stdout.toString()).toBe("700 directory\n");
});

it("serves a single file through the folder that holds it, and follows a link to a resource", async () => {
  const { folder, stateDirectory, data } = await setUp();
  symlinkSync("data", join(folder, "link"));
  for (const location of [join(data, "file"), join(folder, "link")]) {
    expect(await findArea(location, { stateDirectory })).toMatchObject({ foundBy: "state" });
  }
});

it("remembers each area once", async () => {
  const { stateDirectory, data } = await setUp();
  await Promise.all(Array.from({ length: 10 }, () => findArea(data, { stateDirectory })));
  expect(listAreas(stateDirectory)).toMatchObject([
    { path: join(stateDirectory, "area"), foundBy: "state" },
  ]);
});

it("tells which paths inside a resource are our own", async () => {
  const { folder, stateDirectory } = await setUp();
  expect(await findArea(folder, { stateDirectory })).toMatchObject({ ownPaths: [stateDirectory] });
});

it("refuses a resource that is our own state, and one that is not there", async () => {
  const { folder, stateDirectory } = await setUp();
  const refused = { code: "SANDBOX_CREATION", data: { stage: "resource" } };
  for (const location of [stateDirectory, join(stateDirectory, "plans"), join(folder, "missing")]) {
    await expect(findArea(location, { stateDirectory })).rejects.toMatchObject(refused);
  }
});
