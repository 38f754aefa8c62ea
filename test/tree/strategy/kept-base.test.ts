import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type RelativePath, toBytePath } from "../../../src/model/byte-path.ts";
import { findAncestor, keepPreImage } from "../../../src/tree/strategy/ancestors.ts";
import { keepBase } from "../../../src/tree/strategy/kept-base.ts";
import type { SandboxPlace } from "../../../src/tree/workspace.ts";
import { tempFolder } from "../../support/temp.ts";
import { shell } from "../sample-tree.ts";

/** A sandbox of a directory whose resource says how its base is treated. */
function placeOf(script: string, base?: string): SandboxPlace & { readonly folder: string } {
  const folder = tempFolder();
  const [root, directory] = [join(folder, "real"), join(folder, "own")];
  for (const path of [root, directory]) mkdirSync(path);
  shell(root, script);
  return {
    folder,
    sandboxId: "sandbox",
    resource: {
      resourceId: "tree",
      type: "fs-directory",
      location: root,
      ...(base !== undefined && { properties: { base } }),
    },
    directory: toBytePath(directory),
    root: toBytePath(root),
    only: null,
    exclude: [],
  };
}

const TREE = "echo a > a; echo b > b; mkdir sub; echo c > sub/c; echo x > $'latin-\\351'";

it("keeps no base unless the resource asks for it, and refuses another word", async () => {
  const place = placeOf(TREE);
  expect(await keepBase(place, 0)).toBeNull();
  expect(shell(place.folder, "ls own")).toBe("");
  const other = placeOf(TREE, "drop");
  await expect(keepBase(other, 0)).rejects.toMatchObject({
    code: "SANDBOX_CREATION",
    data: { stage: "properties" },
  });
  expect(shell(other.folder, "ls own")).toBe("");
});

it("keeps the whole base, and forgets what somebody changed while the workspace was made", async () => {
  const place = placeOf(TREE, "keep");
  const kept = await keepBase(place, 7);
  const names = (): string[] =>
    shell(place.folder, "cd own/base-7; find -mindepth 1 | sort").trim().split("\n");
  expect(names()).toEqual(["./a", "./b", "./latin-\xe9", "./sub", "./sub/c"]);
  shell(place.folder, "cd real; echo other > a; rm b; echo y > sub/new; echo y > $'latin-\\351'");
  await kept?.settle();
  expect(names()).toEqual(["./sub", "./sub/c"]);
});

it("keeps one pre-image of a file that is written twice at the same time (R262)", async () => {
  const place = placeOf(TREE);
  const path = "a" as RelativePath;
  await Promise.all([keepPreImage(place, path), keepPreImage(place, path)]);
  const kept = findAncestor(place, path);
  expect(kept).not.toBeNull();
  expect(readFileSync(kept ?? "", "utf8")).toBe("a\n");
  expect(shell(place.folder, "ls own/pre-1 | wc -l").trim()).toBe("1");
});
