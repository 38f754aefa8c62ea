import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ROOT, toBytePath } from "../../../src/model/byte-path.ts";
import { FolderReader } from "../../../src/strategies/overlay/folder-reader.ts";
import { LayerStack } from "../../../src/strategies/overlay/layer-stack.ts";
import { removeNames } from "../../../src/strategies/overlay/remove-names.ts";
import { SpareFolder } from "../../../src/strategies/overlay/spare-folder.ts";
import { tempFolder } from "../../support/temp.ts";
import { at } from "./sandbox.ts";

/** What this process has open at or below a folder. */
function openBelow(folder: string): number {
  const args = [`/proc/${process.pid}/fd`, "-lname", `${folder}*`];
  const found = spawnSync("find", args, { encoding: "utf8" }).stdout;
  return found.split("\n").length - 1;
}

it("leaves nothing open when a folder of a layer went away under a reader (R262)", () => {
  const folder = tempFolder();
  for (const name of ["real", "upper", "lower"]) mkdirSync(join(folder, name));
  const marks = { dialect: "user", isFuse: false } as const;
  const layers = ["upper", "lower"].map((name) => ({
    ...marks,
    path: toBytePath(join(folder, name)),
  }));
  using stack = new LayerStack({ layers, root: toBytePath(join(folder, "real")), exclude: [] });
  const roots = stack.layers.map((layer) => ({ layer, path: ROOT }));
  const parts = stack.layers.map((layer) => ({
    layer,
    path: layer.index === 0 ? ROOT : at("gone"),
  }));
  // Whoever read them once leaves the roots of the layers open with the stack.
  new FolderReader(stack, { kind: "folder", parts: roots, base: null })[Symbol.dispose]();
  const before = openBelow(folder);
  expect(() => new FolderReader(stack, { kind: "folder", parts, base: null })).toThrowError(
    expect.objectContaining({ code: "ENOENT" }) as Error,
  );
  expect(openBelow(folder)).toBe(before);
});

it("leaves nothing open when a spare name is taken (R262)", () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "taken"), "theirs");
  const fd = openSync(folder, "r");
  try {
    const spare = new SpareFolder(fd);
    expect(() => spare.newFile(fd, "taken")).toThrowError(
      expect.objectContaining({ code: "EEXIST" }) as Error,
    );
    expect(openBelow(folder)).toBe(1);
    closeSync(spare.newFile(fd, "free"));
  } finally {
    closeSync(fd);
  }
  expect(readdirSync(folder).toSorted()).toEqual(["free", "taken"]);
});

it("removes nothing where no folder is, and tells of a file that is there instead (R262)", async () => {
  const folder = tempFolder();
  writeFileSync(join(folder, "file"), "");
  const all = (): boolean => true;
  expect(await removeNames(toBytePath(join(folder, "gone")), all)).toEqual([]);
  await expect(removeNames(toBytePath(join(folder, "file")), all)).rejects.toMatchObject({
    code: "ENOTDIR",
  });
  expect(readdirSync(folder)).toEqual(["file"]);
});
