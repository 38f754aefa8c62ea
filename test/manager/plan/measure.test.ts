import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { openCofferdam } from "../../../src/index.ts";
import { tempFolder } from "../../support/temp.ts";

test("a plan tells the room that it takes, resource by resource, and more after a checkpoint", async () => {
  const folder = tempFolder();
  const stateDirectory = join(folder, "state");
  for (const name of ["large", "small"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "large/file"), "x".repeat(200_000));
  writeFileSync(join(folder, "small/file"), "x");
  await using cofferdam = await openCofferdam({ stateDirectory, config: false });
  const resources = ["large", "small"].map((id) => ({
    ...{ id, type: "fs-directory", location: join(folder, id), sandboxStrategy: "filesystem_copy" },
  }));
  const plan = await cofferdam.plan("plan", resources);
  const first = await plan.measure();
  const { large = 0, small = 0 } = first.resources;
  expect(first).toEqual({ planId: "plan", bytes: large + small, resources: { large, small } });
  expect(large).toBeGreaterThanOrEqual(200_000);
  expect(small).toBeLessThan(100_000);
  await plan.checkpoint("kept");
  expect((await plan.measure()).resources["large"]).toBeGreaterThanOrEqual(400_000);
  await plan.cleanup();
  expect(await plan.measure()).toEqual({ planId: "plan", bytes: 0, resources: {} });
});

test("a database file needs no configured connection, and its diff says that it is about rows", async () => {
  const folder = tempFolder();
  const database = join(folder, "with space.db");
  const own = new DatabaseSync(database);
  onTestFinished(() => own.close());
  own.exec("CREATE TABLE jobs(id INTEGER PRIMARY KEY, name TEXT)");
  const options = { stateDirectory: join(folder, "state"), config: false } as const;
  const location = `sqlite:${database.replaceAll(" ", "%20")}`;
  {
    await using cofferdam = await openCofferdam(options);
    const plan = await cofferdam.plan("plan", [{ id: "jobs", type: "database", location }]);
    await plan.sandbox("jobs").write("add", "INSERT INTO jobs VALUES (1, 'one')");
  }
  await using later = await openCofferdam(options);
  const plan = await later.plan("plan");
  const { resources } = await plan.diff();
  expect(resources["jobs"]).toMatchObject({ unit: "row", changes: [{ path: "main.jobs/1" }] });
  expect((await plan.measure()).bytes).toBeGreaterThan(0);
  await plan.commit();
  expect(own.prepare("SELECT name FROM jobs").all()).toEqual([{ name: "one" }]);
});
