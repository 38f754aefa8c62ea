import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listAreas } from "../../src/journal/area-list.ts";
import { openStateDirectory } from "../../src/journal/state-directory.ts";
import { findArea } from "../../src/journal/storage-area.ts";
import { trialArea } from "../../src/journal/trial-area.ts";
import { tempFolder } from "../support/temp.ts";

async function makeProject(): Promise<{ project: string; stateDirectory: string }> {
  const folder = tempFolder();
  const project = join(folder, "project");
  mkdirSync(project);
  const { path } = await openStateDirectory(join(folder, "state"));
  return { project, stateDirectory: path };
}

test("gives an area back that was made for a look only", async () => {
  const { project, stateDirectory } = await makeProject();
  let path: string;
  {
    await using area = await trialArea(project, { stateDirectory });
    path = area.path;
    expect(existsSync(path)).toBe(true);
    expect(listAreas(stateDirectory)).toMatchObject([{ path, foundBy: "state" }]);
  }
  expect(existsSync(path)).toBe(false);
  expect(listAreas(stateDirectory)).toEqual([]);
});

test("keeps an area that somebody began to use meanwhile", async () => {
  const { project, stateDirectory } = await makeProject();
  {
    await using area = await trialArea(project, { stateDirectory });
    mkdirSync(join(area.path, "sandboxes/one"), { recursive: true });
  }
  expect(listAreas(stateDirectory)).toHaveLength(1);
});

test("keeps an area that was there before", async () => {
  const { project, stateDirectory } = await makeProject();
  const { path } = await findArea(project, { stateDirectory });
  {
    await using area = await trialArea(project, { stateDirectory });
    expect(area.path).toBe(path);
  }
  expect(existsSync(path)).toBe(true);
  expect(listAreas(stateDirectory)).toHaveLength(1);
});
