import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { toBytePath } from "../../../src/model/byte-path.ts";
import { type Dialect } from "../../../src/strategies/overlay/marks.ts";
import { LayerStack } from "../../../src/strategies/overlay/layer-stack.ts";
import { listView, readFromView } from "../../../src/strategies/overlay/view.ts";
import { tempFolder } from "../../support/temp.ts";
import { runIn } from "./modes.ts";
import { at } from "./sandbox.ts";

/** Layers that are made by hand with the tools of the system, the topmost first, over a real directory. */
function openHandMade(
  folder: string,
  names: readonly string[],
  dialect: Dialect,
  isFuse = false,
): LayerStack {
  return new LayerStack({
    layers: names.map((name) => ({ path: toBytePath(join(folder, name)), dialect, isFuse })),
    root: toBytePath(join(folder, "real")),
    exclude: [],
  });
}

function makeFolder(line: string): string {
  const folder = tempFolder();
  mkdirSync(join(folder, "real"));
  runIn(folder, `mkdir upper middle; ${line}`);
  return folder;
}

/** Everything below a folder of the view. */
function tree(stack: LayerStack, folder = ""): string[] {
  return listView(stack, at(folder)).flatMap(({ name, type }) => {
    const path = folder === "" ? name : `${folder}/${name}`;
    return type === "directory" ? [`${path}/`, ...tree(stack, path)] : [path];
  });
}

it.each(["trusted", "user"] as const)(
  "reads whiteouts and opaque folders with %s marks as the kernel does (R73)",
  (dialect) => {
    const folder = makeFolder(
      `cd real; mkdir -p d/e o; touch d/f d/e/g o/h x; cd ..
     mkdir -p upper/d middle/o; mknod upper/d/f c 0 0; mknod middle/x c 0 0; touch middle/o/new
     mknod upper/device c 1 3
     setfattr -n ${dialect}.overlay.opaque -v y middle/o`,
    );
    using stack = openHandMade(folder, ["upper", "middle"], dialect);
    expect(tree(stack)).toEqual(["d/", "d/e/", "d/e/g", "device", "o/", "o/new"]);
  },
);

it("reads whiteouts that are empty files, where their folder says that it has such ones (R73)", () => {
  const folder = makeFolder(
    `cd real; mkdir d; touch d/f d/g d/h; cd ..
     mkdir upper/d; touch upper/d/f upper/d/g; echo x >upper/d/h
     for name in f h; do setfattr -n user.overlay.whiteout -v y upper/d/$name; done
     setfattr -n user.overlay.opaque -v x upper/d`,
  );
  using stack = openHandMade(folder, ["upper"], "user");
  expect(tree(stack)).toEqual(["d/", "d/g", "d/h"]);
  runIn(folder, "setfattr -x user.overlay.opaque upper/d");
  expect(tree(stack)).toEqual(["d/", "d/f", "d/g", "d/h"]);
});

it("follows redirects: beside, from the root, over several layers and inside renamed folders (R73)", () => {
  const folder = makeFolder(
    `cd real; mkdir -p one/deep/er two; touch one/a one/deep/b one/deep/er/c two/d; cd ..
     mkdir -p middle/uno middle/two; mknod middle/one c 0 0; touch middle/uno/m
     setfattr -n trusted.overlay.redirect -v one middle/uno
     mkdir -p upper/top/in upper/two; mknod upper/uno c 0 0; touch upper/top/u
     setfattr -n trusted.overlay.redirect -v /uno upper/top
     mkdir -p upper/far; setfattr -n trusted.overlay.redirect -v /uno/deep/er upper/far`,
  );
  using stack = openHandMade(folder, ["upper", "middle"], "trusted");
  const own = tree(stack);
  expect(own).toEqual([
    "far/",
    "far/c",
    "top/",
    "top/a",
    "top/deep/",
    "top/deep/b",
    "top/deep/er/",
    "top/deep/er/c",
    "top/in/",
    "top/m",
    "top/u",
    "two/",
    "two/d",
  ]);
  // The kernel itself says the same.
  mkdirSync(join(folder, "merged"));
  runIn(folder, "mount -t overlay overlay -o ro,lowerdir=upper:middle:real merged");
  const shown = runIn(join(folder, "merged"), "find . -mindepth 1 -printf '%P%y\\n' | sort");
  runIn(folder, "umount merged");
  const kernel = shown
    .trim()
    .split("\n")
    .map((line) => line.replace(/d$/, "/").replace(/f$/, ""));
  expect(own.toSorted()).toEqual(kernel.toSorted());
});

it("follows no redirect without root, and none that leads out of the layers", () => {
  const folder = makeFolder(
    `cd real; mkdir -p d; touch d/f; cd ..; mkdir upper/x upper/y upper/z
     setfattr -n user.overlay.redirect -v /d upper/x
     setfattr -n trusted.overlay.redirect -v /../d upper/y; setfattr -n trusted.overlay.redirect -v d/f upper/z`,
  );
  using user = openHandMade(folder, ["upper"], "user");
  expect(tree(user)).toEqual(["d/", "d/f", "x/", "y/", "z/"]);
  using trusted = openHandMade(folder, ["upper"], "trusted");
  expect(tree(trusted)).toEqual(["d/", "d/f", "x/", "y/", "z/"]);
});

it("reads the marks of fuse-overlayfs where it has written, and takes its names for names elsewhere (R73)", () => {
  const folder = makeFolder(
    `cd real; mkdir -p d o; touch d/f d/g o/h x; cd ..
     mkdir upper/d upper/o; touch upper/.wh.x upper/d/.wh.f upper/o/new upper/o/.wh..wh..opq; mknod upper/o/.wh..opq c 0 0`,
  );
  using fuse = openHandMade(folder, ["upper"], "user", true);
  expect(tree(fuse)).toEqual(["d/", "d/g", "o/", "o/new"]);
  using kernel = openHandMade(folder, ["upper"], "user");
  expect(tree(kernel)).toEqual([
    ".wh.x",
    "d/",
    "d/.wh.f",
    "d/f",
    "d/g",
    "o/",
    "o/.wh..wh..opq",
    "o/h",
    "o/new",
    "x",
  ]);
});

it("refuses a file whose content lies in another layer", () => {
  const folder = makeFolder(
    "echo real >real/f; truncate -s 5 upper/f; setfattr -n trusted.overlay.metacopy upper/f",
  );
  using stack = openHandMade(folder, ["upper"], "trusted");
  expect(() => readFromView(stack, at("f"))).toThrow(
    expect.objectContaining({ code: "RECORD_DAMAGED" }) as Error,
  );
});
