import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import {
  BUILT_IN_RESOURCE_TYPE_NAMES,
  BUILT_IN_STRATEGY_NAMES,
  type Cofferdam,
  type Resource,
  STRATEGY_FITS,
  StrategyNotFoundError,
  UnsupportedStrategyError,
  matrixOf,
  openCofferdam,
} from "../../src/index.ts";
import { strategyModule } from "../fixtures/strategies/strategy-module.ts";
import { mountFileSystem } from "../support/loop.ts";
import { tempFolder } from "../support/temp.ts";

/** A project with a configuration, opened through the public entry only. */
async function openProject(folder: string, config: string): Promise<Cofferdam> {
  writeFileSync(join(folder, "cofferdam.yaml"), config);
  return openCofferdam({
    stateDirectory: join(folder, "state"),
    config: join(folder, "cofferdam.yaml"),
  });
}

/** A real resource of a type; the disk keeps the mount point. */
function makeResource(type: string, folder: string, disk: string): Resource {
  if (type === "fs-mount") return { resourceId: type, type, location: disk };
  if (type === "fs-file") {
    writeFileSync(join(folder, "single.txt"), "one");
    return { resourceId: type, type, location: join(folder, "single.txt") };
  }
  mkdirSync(join(folder, "directory"), { recursive: true });
  writeFileSync(join(folder, "directory/file.txt"), "one");
  if (type === "git-repository") makeRepository(join(folder, "directory"));
  return { resourceId: type, type, location: join(folder, "directory") };
}

function makeRepository(folder: string): void {
  const script =
    "git init -q .; git add -A; git -c user.name=t -c user.email=t@t.invalid commit -qm first";
  execFileSync("sh", ["-ec", script], { cwd: folder });
}

/** Every resource type with every strategy, and whether they fit. */
const PAIRS = BUILT_IN_RESOURCE_TYPE_NAMES.flatMap((type) =>
  BUILT_IN_STRATEGY_NAMES.map((strategy) => {
    const types: readonly string[] = STRATEGY_FITS[strategy];
    return { type, strategy, fits: types.includes(type) };
  }),
);

describe("every resource type with every strategy", () => {
  // Databases have tests of their own: neither their locations nor what is written are files.
  it.each(PAIRS.filter(({ fits, type }) => fits && type !== "database"))(
    "$type with $strategy goes through create, write and commit (R105, R107)",
    async ({ type, strategy }) => {
      const folder = tempFolder();
      await using disk = mountFileSystem("tmpfs");
      await using coffer = await openProject(folder, "");
      const resource = makeResource(type, folder, disk.mountPoint);
      const sandbox = coffer.sandbox(await coffer.create("plan", resource, { strategy }));
      const path = type === "fs-file" ? "single.txt" : "file.txt";
      await sandbox.write(path, "two");
      await sandbox.commit();
      const real = type === "fs-file" ? resource.location : join(resource.location, path);
      expect(readFileSync(real, "utf8")).toBe("two");
      await sandbox.cleanup();
      expect(readFileSync(real, "utf8")).toBe("two");
    },
  );

  it.each(PAIRS.filter(({ fits }) => !fits))(
    "$type with $strategy is refused before anything is made (R107)",
    async ({ type, strategy }) => {
      const folder = tempFolder();
      await using disk = mountFileSystem("tmpfs");
      await using coffer = await openProject(folder, "");
      const resource = makeResource(type, folder, disk.mountPoint);
      const attempt = coffer.create("plan", resource, { strategy });
      await expect(attempt).rejects.toBeInstanceOf(UnsupportedStrategyError);
      expect(await coffer.list()).toEqual([]);
    },
  );
});

test("a name without an implementation is not known (R105)", async () => {
  const folder = tempFolder();
  await using coffer = await openProject(folder, "");
  const resource = makeResource("fs-directory", folder, "");
  const attempt = coffer.create("plan", resource, { strategy: "snapshot" });
  await expect(attempt).rejects.toBeInstanceOf(StrategyNotFoundError);
});

test("a strategy outside the type's row is refused with the allowed ones (R107)", async () => {
  const folder = tempFolder();
  await using coffer = await openProject(
    folder,
    "resource_types:\n  notes:\n    sandbox_strategy: copy_on_write\n    supported_strategies: [copy_on_write, none]\n",
  );
  mkdirSync(join(folder, "directory"));
  const resource = { resourceId: "n", type: "notes", location: join(folder, "directory") };
  const attempt = coffer.create("plan", resource, { strategy: "overlay" });
  await expect(attempt).rejects.toBeInstanceOf(UnsupportedStrategyError);
  await expect(attempt).rejects.toMatchObject({
    data: { resourceType: "notes", strategyName: "overlay", allowed: ["copy_on_write", "none"] },
  });
  expect(matrixOf(coffer.config).size).toBe(BUILT_IN_RESOURCE_TYPE_NAMES.length + 1);
});

describe("precedence", () => {
  const levels = [
    { config: "", name: "overlay", chosenBy: "default" },
    {
      config: "sandbox: { strategy: filesystem_copy }\n",
      name: "filesystem_copy",
      chosenBy: "global",
    },
    {
      config:
        "sandbox: { strategy: filesystem_copy }\nresource_types: { fs-directory: { sandbox_strategy: copy_on_write } }\n",
      name: "copy_on_write",
      chosenBy: "resourceType",
    },
    {
      config:
        "sandbox: { strategy: filesystem_copy }\nresource_types: { fs-directory: { sandbox_strategy: copy_on_write } }\n" +
        "resources: { site: { type: fs-directory, location: directory, strategy: none } }\n",
      name: "none",
      chosenBy: "resource",
    },
  ];
  for (const { config, name, chosenBy } of levels) {
    it(`a strategy chosen by ${chosenBy} is used and told in the ref (R111)`, async () => {
      const folder = tempFolder();
      const resource = makeResource("fs-directory", folder, "");
      await using coffer = await openProject(folder, config);
      const ref = await coffer.create("plan", chosenBy === "resource" ? "site" : resource);
      expect(ref).toMatchObject({ strategyName: name, chosenBy });
      await coffer.sandbox(ref).cleanup();
    });
  }
});

test("a custom strategy from the configuration lives its whole life through the engine (R114, R110)", async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "snapshots.mjs"), strategyModule("esm"));
  const resource = makeResource("fs-directory", folder, "");
  await using coffer = await openProject(
    folder,
    "sandbox:\n  custom_strategies:\n    snapshots: { module: ./snapshots.mjs, class: DirectorySnapshot }\n" +
      "resource_types: { fs-directory: { sandbox_strategy: snapshots } }\n",
  );
  const ref = await coffer.create("plan", resource);
  expect(ref).toMatchObject({ strategyName: "snapshots", chosenBy: "resourceType" });
  const sandbox = coffer.sandbox(ref);
  execFileSync("bash", ["-c", "printf two > file.txt; printf new > added.txt"], {
    cwd: await sandbox.getPath(),
  });
  expect(readFileSync(join(resource.location, "file.txt"), "utf8")).toBe("one");
  await sandbox.commit();
  expect(readFileSync(join(resource.location, "file.txt"), "utf8")).toBe("two");
  expect(readdirSync(resource.location).sort()).toEqual(["added.txt", "file.txt"]);
  await sandbox.cleanup();
  expect(await coffer.list()).toEqual([]);
});
