import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type RelativePath, toBytePath } from "../../src/model/byte-path.ts";
import { OutwardLinks } from "../../src/tree/outward-link.ts";
import type { TreeChange } from "../../src/tree/tree-change.ts";
import type { TreeEntry } from "../../src/tree/tree-entry.ts";
import { tempFolder } from "../support/temp.ts";

const entry = (type: TreeEntry["type"], target: string | null = null): TreeEntry => ({
  type,
  mode: 0o755,
  uid: 0,
  gid: 0,
  nlink: 1,
  size: 1,
  ino: 1n,
  dev: 1n,
  mtimeNs: 1n,
  ctimeNs: 1n,
  target: target === null ? null : toBytePath(target),
  xattrs: null,
});

const change = (path: string, before: TreeEntry | null, after: TreeEntry | null): TreeChange => ({
  path: toBytePath(path) as RelativePath,
  before,
  after,
  source: null,
  take: "clone",
  contentDiffers: null,
});

/** A real tree that the script fills, at a path of two parts below the temp folder. */
function makeTree(script: string): string {
  const root = join(tempFolder(), "srv", "site");
  mkdirSync(root, { recursive: true });
  execFileSync("bash", ["-ec", script], { cwd: root });
  return root;
}

function isOutward(
  root: string,
  path: string,
  target: string,
  others: readonly TreeChange[] = [],
): boolean {
  const link = change(path, null, entry("symlink", target));
  return new OutwardLinks(toBytePath(root), [...others, link]).has(link);
}

test("links inside the tree are inward, by relative and by absolute text", () => {
  const root = makeTree("mkdir -p one/two d; touch b; ln -s d e");
  const targets = ["b", "./b", "../b", "b/c", "../../b", "../../d/../b", "../../e/../b", "."];
  for (const target of [...targets, root, join(root, "b"), `${root}/d/../b`, "../../loop"]) {
    expect([target, isOutward(root, "one/two/link", target)]).toEqual([target, false]);
  }
});

test("links that leave the tree are outward, by relative and by absolute text (R230)", () => {
  const root = makeTree("mkdir -p one/two d");
  const targets = ["../../../b", "/etc/passwd", `${root}2`, `${root}/../x`, "/", "missing/../b"];
  for (const target of [...targets, join(root, ".."), "../../d/../../x"]) {
    expect([target, isOutward(root, "one/two/link", target)]).toEqual([target, true]);
  }
});

test("a link through a link goes where that one goes (R230)", () => {
  const root = makeTree(
    "mkdir -p d/e; ln -s /etc out; ln -s out chain; ln -s d/e in; ln -s ../.. d/up; ln -s loop loop",
  );
  const targets = {
    "out/secret": true,
    "chain/secret": true,
    "d/up/x": true,
    "in/../../../x": true,
    "in/../../x": false,
    "in/..": false,
    "in/x": false,
    "loop/x": false,
  };
  for (const [target, expected] of Object.entries(targets)) {
    expect([target, isOutward(root, "link", target)]).toEqual([target, expected]);
  }
});

test("what counts is the tree as it will be published (R230)", () => {
  const root = makeTree("mkdir -p d/f; ln -s /etc out; ln -s /etc d/f/out");
  const gone = change("out", entry("symlink", "/etc"), null);
  expect(isOutward(root, "link", "out/x", [gone])).toBe(false);
  const bent = change("d", entry("directory"), entry("symlink", "/var"));
  expect(isOutward(root, "link", "d/x", [bent])).toBe(true);
  const fresh = change("d", entry("symlink", "/var"), entry("directory"));
  expect(isOutward(root, "link", "d/f/out", [fresh])).toBe(false);
  expect(isOutward(root, "link", "d/f/out")).toBe(true);
});

test("only links are judged", () => {
  const links = new OutwardLinks(toBytePath("/nowhere"), []);
  expect(links.has(change("a", null, entry("file")))).toBe(false);
  expect(links.has(change("a", entry("symlink", "/etc"), null))).toBe(false);
});
