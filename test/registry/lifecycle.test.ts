import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SandboxStrategy } from "../../src/contract/strategy.ts";
import type { Resource } from "../../src/model/resource.ts";
import { checkNames } from "../../src/registry/check-names.ts";
import { chooseStrategy } from "../../src/registry/choose-strategy.ts";
import { FilesystemCopyStrategy } from "../../src/strategies/filesystem_copy/strategy.ts";
import { strategyModule } from "../fixtures/strategies/strategy-module.ts";
import { Project } from "./project.ts";
import type { OpenProject } from "./project.ts";

/** Names, types, modes, link texts and contents of a folder, by programs that are not ours. */
function listing(folder: string): string {
  const names = execFileSync("find", [folder, "-printf", "%P %y %m %l\\n"], { encoding: "utf8" });
  const sums = execFileSync("find", [folder, "-type", "f", "-exec", "sha256sum", "{}", "+"], {
    encoding: "utf8",
  });
  const sorted = (text: string): string => text.split("\n").sort().join("\n");
  return `${sorted(names)}\n${sorted(sums)}`;
}

function resourceOf({ config }: OpenProject, id: string): Resource {
  const resource = config.resources.get(id);
  if (resource === undefined) throw new Error(`there is no resource ${id}`);
  return resource;
}

/** The strategy that the configuration picks for a resource. */
async function strategyFor(open: OpenProject, id: string): Promise<SandboxStrategy> {
  const { name } = chooseStrategy(resourceOf(open, id), open.config, open.registry);
  return open.registry.resolve(name);
}

/** Every method in one life: edits, checkpoint, restore, rollback, commit, cleanup; the disk is looked at in between. */
async function live(strategy: SandboxStrategy, resource: Resource, state: string): Promise<void> {
  const { location } = resource;
  const before = listing(location);
  const ref = await strategy.create("plan", resource);
  expect(listing(location)).toBe(before);

  await strategy.write(ref, "new/deep.txt", "deep");
  await strategy.write(ref, "a.txt", "two");
  await strategy.checkpoint(ref, "first");
  await strategy.write(ref, "a.txt", "three");
  await strategy.restoreCheckpoint(ref, "first");
  expect(Buffer.from(await strategy.read(ref, "a.txt")).toString()).toBe("two");
  expect(listing(location)).toBe(before);

  await strategy.rollback(ref);
  expect((await strategy.diff(ref)).isEmpty).toBe(true);
  await strategy.write(ref, "a.txt", "four");
  await strategy.write(ref, "new/deep.txt", "deep");
  const workspace = (await strategy.getPath?.(ref)) ?? "";
  rmSync(join(workspace, "gone.txt"));
  const { changes } = await strategy.diff(ref);
  expect(changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    "modified a.txt",
    "deleted gone.txt",
    "added new",
    "added new/deep.txt",
  ]);
  expect(listing(location)).toBe(before);

  const wanted = listing(workspace).replaceAll(workspace, location);
  const result = await strategy.commit(ref, { message: "done" });
  expect(result).toMatchObject({ success: true, noop: false, changed: ["a.txt"] });
  expect(listing(location)).toBe(wanted);
  await strategy.cleanup(ref);
  await strategy.cleanup(ref);
  expect(listing(location)).toBe(wanted);
  expect(execFileSync("find", [state, "-mindepth", "2"], { encoding: "utf8" })).toBe("");
}

function project(): Project {
  const made = new Project();
  for (const name of ["one", "two"]) {
    mkdirSync(join(made.folder, name), { mode: 0o750 });
    made.put(`${name}/a.txt`, "one");
    made.put(`${name}/gone.txt`, "gone");
    symlinkSync("a.txt", join(made.folder, name, "link"));
  }
  return made;
}

describe("a strategy from the configuration", () => {
  it("lives through all nine methods on a real directory (R108, R275)", async () => {
    const here = project();
    here.put("plugins/snapshot.mjs", strategyModule("esm"));
    const open = await here.open(`
sandbox:
  custom_strategies:
    snapshots: { module: ./plugins/snapshot.mjs, class: DirectorySnapshot }
resources:
  one: { type: fs-directory, location: one, strategy: snapshots }
`);
    checkNames(open.config, open.registry);
    const strategy = await strategyFor(open, "one");
    expect(open.registry.describe("snapshots").origin).toBe("custom");
    await live(strategy, resourceOf(open, "one"), here.state);
  });

  it("is found through a resource type like a built-in one (R110)", async () => {
    const here = project();
    here.put("plugins/snapshot.ts", strategyModule("typescript"));
    const open = await here.open(`
sandbox:
  custom_strategies:
    snapshots: { module: ./plugins/snapshot.ts, class: DirectorySnapshot }
resource_types:
  album: { sandbox_strategy: snapshots }
  folder: { sandbox_strategy: filesystem_copy }
resources:
  one: { type: album, location: ./one }
  two: { type: folder, location: ./two }
`);
    checkNames(open.config, open.registry);
    const own = await strategyFor(open, "one");
    const builtIn = await strategyFor(open, "two");
    expect(own).toBe(open.registry.get("snapshots"));
    expect(builtIn).toBeInstanceOf(FilesystemCopyStrategy);
    await live(own, resourceOf(open, "one"), here.state);
  });
});
