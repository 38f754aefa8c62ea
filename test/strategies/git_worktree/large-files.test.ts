import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { shell } from "../shell.ts";
import { type Checkout, git, makeCheckout, openGit } from "./checkout.ts";
import { useHome } from "./home.ts";

/** Two large files that git-lfs keeps, of which a clone has only the first. */
function makeLargeFiles(): Checkout {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  useHome(folder, "git lfs install --skip-repo > /dev/null");
  shell(
    root,
    `export HOME=$PWD/../home; echo '*.big filter=lfs diff=lfs merge=lfs -text' > .gitattributes
     head -c 5000 /dev/zero > here.big; head -c 6000 /dev/zero > elsewhere.big
     printf '[lfs]\\n\\turl = http://127.0.0.1:9/\\n' > .lfsconfig; git add -A; git commit -qm large
     find .git/lfs/objects -type f -size +5500c -delete
     git cat-file -p HEAD:elsewhere.big > elsewhere.big; git add elsewhere.big`,
  );
  return checkout;
}

function sumOf(root: string, name: string): string {
  return createHash("sha256")
    .update(readFileSync(join(root, name)))
    .digest("hex");
}

test("large files of git-lfs come along, are committed as such, and come back by an undo (R58)", async () => {
  const checkout = makeLargeFiles();
  const { root } = checkout;
  const old = sumOf(root, "here.big");
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  expect(sumOf(worktree, "here.big")).toBe(old);
  shell(worktree, "head -c 4000 /dev/zero > here.big; head -c 100 /dev/urandom > more.big");
  const { changes } = await bench.sandbox.diff();
  expect(changes.map(({ path, before, after }) => [path, before?.size, after?.size])).toEqual([
    ["here.big", 5000, 4000],
    ["more.big", undefined, 100],
  ]);
  await bench.sandbox.commit({ message: "smaller" });
  const kept = shell(root, "find .git/lfs/objects -type f -exec sha256sum {} +");
  expect(kept).toContain(sumOf(root, "more.big"));
  expect(git(root, "cat-file", "-p", "HEAD:more.big")).toContain(sumOf(root, "more.big"));
  expect(git(root, "status", "--porcelain")).toBe("");
  await bench.sandbox.rollback();
  expect(sumOf(root, "here.big")).toBe(old);
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("a large file that the clone does not have stays a pointer, and nobody is asked for it (R239)", async () => {
  const checkout = makeLargeFiles();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  const pointer = readFileSync(join(root, "elsewhere.big"), "utf8");
  expect(pointer).toContain("git-lfs");
  expect(readFileSync(join(worktree, "elsewhere.big"), "utf8")).toBe(pointer);
  expect(shell(root, "grep -rl 127.0.0.1 .git/lfs/logs || true")).toBe("");
  expect((await bench.sandbox.diff()).changes).toEqual([]);
  shell(worktree, "git mv elsewhere.big moved.big");
  await bench.sandbox.commit({ message: "moved" });
  expect(readFileSync(join(root, "moved.big"), "utf8")).toBe(pointer);
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("both sides of a diff have the line endings of the checkout, in sizes too (R58)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(
    root,
    "echo '*.bat text eol=crlf' > .gitattributes; printf 'a\\r\\nb\\r\\n' > x.bat; git add -A; git commit -qm bat",
  );
  await using bench = await openGit(checkout);
  shell(await bench.sandbox.getPath(), "printf 'a\\r\\nbc\\r\\n' > x.bat; ln -sfn tool link");
  const diff = await bench.sandbox.diff();
  expect(diff.changes).toMatchObject([
    { path: "link", before: { target: "a.txt" }, after: { target: "tool" } },
    { path: "x.bat", before: { size: 6 }, after: { size: 7 } },
  ]);
  expect(await diff.text()).toContain("@@ -1,2 +1,2 @@\n a\r\n-b\r\n+bc\r\n");
});
