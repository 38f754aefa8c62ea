import { chownSync, lchownSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { type RelativePath, displayPath, toBytePath } from "../../src/model/byte-path.ts";
import { describeForeign, findForeign, listForeign } from "../../src/tree/foreign-entries.ts";
import type { OrdinaryUser } from "../../src/tree/owners.ts";
import { tempFolder } from "../support/temp.ts";

const user: OrdinaryUser = { uid: 1234, gid: 1234, groups: [33] };

/** A folder with these files, each with its owner and group, as folders are that end with a slash. */
function plant(entries: Readonly<Record<string, readonly [uid: number, gid: number]>>): string {
  const root = tempFolder();
  for (const [path, [uid, gid]] of Object.entries(entries)) {
    const place = join(root, path);
    if (path.endsWith("/")) mkdirSync(place);
    else writeFileSync(place, "");
    chownSync(place, uid, gid);
  }
  return root;
}

function find(root: string, exclude: readonly string[] = []): string | null {
  const hidden = exclude.map((path) => toBytePath(path) as RelativePath);
  const found = findForeign(toBytePath(root), hidden, user);
  return found === null ? null : describeForeign(found);
}

it("finds nothing where all names are the user's own, however it is deeper, nor in a file", () => {
  const root = plant({ "own.txt": [1234, 1234], "own/": [1234, 1234], "own/deep": [0, 0] });
  expect(find(root)).toBeNull();
  expect(find(join(root, "own.txt"))).toBeNull();
  expect(find(join(root, "missing"))).toBeNull();
});

it("names what matters most: the user's own before others', and folders before files", () => {
  const root = plant({ "a/": [0, 0], "b.txt": [1234, 33], "c/": [1234, 0], "d.txt": [0, 0] });
  expect(find(root)).toBe("c has the group 0");
  expect(find(root, ["c"])).toBe("b.txt has the group 33");
  expect(find(root, ["b.txt", "c"])).toBe("a belongs to the user 0");
  expect(find(root, ["a", "b.txt", "c", "d.txt"])).toBeNull();
});

it("takes a link for itself", () => {
  const root = plant({ "own.txt": [1234, 1234] });
  symlinkSync("/etc", join(root, "link"));
  lchownSync(join(root, "link"), 1234, 1234);
  expect(find(root)).toBeNull();
});

it("lists a few of those that lie deep, outer ones first", () => {
  const own = [1234, 1234] as const;
  const root = plant({
    ...{ "a/": own, "a/b/": own, "a/b/1": [1234, 0], "a/b/2": [1234, 0], "a/b/3": [0, 0] },
    ...{ "a/b/4": [0, 0], "z/": own, "z/near": [0, 0] },
  });
  const found = listForeign(toBytePath(root), [], user).map(({ path }) => displayPath(path));
  expect(found).toHaveLength(3);
  expect(found[0]).toBe("z/near");
  expect(new Set(found.map((path) => dirname(path)))).toEqual(new Set(["z", "a/b"]));
});
