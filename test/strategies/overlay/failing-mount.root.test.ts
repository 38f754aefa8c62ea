import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { mountsBelow } from "../../support/leftovers.ts";
import { mountFileSystem } from "../../support/loop.ts";
import { tempFolder } from "../../support/temp.ts";
import { runIn } from "./modes.ts";
import { at, makeSandbox } from "./sandbox.ts";

function makeRoot(below = tempFolder()): string {
  const root = join(below, "real");
  mkdirSync(root);
  runIn(root, "echo real >a");
  return root;
}

const UNMOUNTABLE = { code: "SANDBOX_CREATION", data: { stage: "mount" } };

it("takes a mount away at once that is not of its own layers, and mounts those later (R262)", async () => {
  const root = makeRoot();
  await using sandbox = await makeSandbox(root, { mode: "kernel" });
  const { workspace, place } = sandbox;
  const directory = displayPath(place.directory);
  renameSync(join(directory, "l"), join(directory, "elsewhere"));
  symlinkSync("elsewhere", join(directory, "l"));
  await expect(workspace.path(place)).rejects.toMatchObject(UNMOUNTABLE);
  expect(mountsBelow(directory)).toEqual([]);
  rmSync(join(directory, "l"));
  renameSync(join(directory, "elsewhere"), join(directory, "l"));
  expect(runIn(displayPath(await workspace.path(place)), "cat a")).toBe("real\n");
});

it.each(["kernel", "fuse"] as const)(
  "tells that nothing can be mounted in mode %s, and mounts once that is possible (R262)",
  async (mode) => {
    const root = makeRoot();
    await using sandbox = await makeSandbox(root, { mode });
    const { workspace, place } = sandbox;
    const directory = displayPath(place.directory);
    renameSync(join(directory, "w"), join(directory, "elsewhere"));
    await expect(workspace.path(place)).rejects.toMatchObject(UNMOUNTABLE);
    expect(mountsBelow(directory)).toEqual([]);
    await workspace.write(place, at("b"), Buffer.from("written\n"));
    renameSync(join(directory, "elsewhere"), join(directory, "w"));
    expect(runIn(displayPath(await workspace.path(place)), "cat a b")).toBe("real\nwritten\n");
  },
);

it("keeps the old file when a write through the mount finds no room, and writes it later (R262)", async () => {
  await using disk = mountFileSystem("tmpfs", { megabytes: 1 });
  const root = makeRoot(disk.mountPoint);
  await using sandbox = await makeSandbox(root, { mode: "kernel" });
  const { workspace, place } = sandbox;
  const path = displayPath(await workspace.path(place));
  const write = (bytes: number): Promise<void> =>
    workspace.write(place, at("a"), Buffer.alloc(bytes));
  await expect(write(2_000_000)).rejects.toMatchObject({ code: "ENOSPC" });
  expect(runIn(path, "ls -A; cat a")).toBe("a\nreal\n");
  await write(1000);
  expect(runIn(path, "stat -c %s a")).toBe("1000\n");
});
