import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openCofferdam } from "../../src/index.ts";
import { tempFolder } from "../support/temp.ts";
import { shell } from "./subjects.ts";

it("warns of a large resource, holes and further names of a file not counted", async () => {
  const folder = tempFolder();
  shell(
    folder,
    `mkdir -p small/d large; head -c 40000 /dev/zero | tr '\\0' x | tee small/a large/a > small/d/b
     ln small/a small/d/name; truncate -s 1G small/hole; ln -s /usr small/link
     head -c 90000 /dev/urandom > large/b`,
  );
  const config = join(folder, "cofferdam.yaml");
  writeFileSync(config, "limits: { warn_bytes: 100000 }\n");
  const told: unknown[] = [];
  await using coffer = await openCofferdam({
    config,
    stateDirectory: join(folder, "state"),
    onEvent: ({ name, level, data }) => {
      if (name === "resource.large") told.push({ level, data });
    },
  });
  for (const name of ["small", "large"]) {
    const resource = { resourceId: name, type: "fs-directory", location: join(folder, name) };
    await coffer.create("plan", resource, { strategy: "copy_on_write" });
  }
  const data = { resourceId: "large", bytes: 130_000, warnBytes: 100_000 };
  expect(told).toMatchObject([{ level: "warning", data }]);
  for (const { ref } of await coffer.list()) await coffer.sandbox(ref).cleanup();
});

it("refuses a workspace elsewhere where the strategy cannot have one (R4)", async () => {
  const folder = tempFolder();
  shell(folder, "mkdir real elsewhere; printf one > real/a");
  await using coffer = await openCofferdam({
    config: false,
    stateDirectory: join(folder, "state"),
  });
  const attempt = coffer.create(
    "plan",
    {
      resourceId: "r",
      type: "fs-directory",
      location: join(folder, "real"),
      properties: { workspaceDirectory: join(folder, "elsewhere") },
    },
    { strategy: "overlay" },
  );
  await expect(attempt).rejects.toMatchObject({
    code: "SANDBOX_CREATION",
    data: { stage: "workspaceDirectory" },
  });
  expect(shell(folder, "ls -A elsewhere")).toBe("");
  expect(await coffer.list()).toEqual([]);
});
