import { join } from "node:path";
import { expect, test } from "vitest";
import { run, shell } from "../shell.ts";
import { openBench } from "../subjects.ts";
import { GIT, git, makeCheckout, openGit } from "./checkout.ts";

/** The ignored files of a worktree, as git lists them. */
function ignoredIn(worktree: string): string[] {
  const listed = git(worktree, "ls-files", "-o", "-i", "--exclude-standard");
  return listed === "" ? [] : listed.split("\n");
}

test("ignored files come along whatever they are called", async () => {
  const checkout = makeCheckout();
  shell(
    checkout.root,
    `printf 't\\nit\\ngit\\nq\\n' | tee .gitignore > .worktreeinclude; git add .; git commit -qm lists
     echo 1 > t; echo 1 > it; echo 1 > q; mkdir git; echo 1 > git/x`,
  );
  await using bench = await openGit(checkout);
  expect(ignoredIn(await bench.sandbox.getPath())).toEqual(["git/x", "it", "q", "t"]);
});

test("of a folder on the list the ignored files come along, also where the folder itself is not ignored", async () => {
  const checkout = makeCheckout();
  shell(
    checkout.root,
    `printf 'logs/*.log\\nall/*\\n!all/kept\\nnode_modules/\\n' > .gitignore
     printf 'logs/\\nall/\\nnode_modules/\\n' > .worktreeinclude; mkdir logs; echo t > logs/tracked
     git add .; git commit -qm lists; mkdir -p logs/deep all/sub node_modules/a odd
     echo 1 > logs/a.log; echo 1 > logs/deep/b.log; echo 1 > logs/note; echo 1 > "logs/$(printf 'caf\\351').log"
     echo 1 > all/x; echo 1 > all/sub/y; echo 1 > all/kept; echo 1 > node_modules/a/b`,
  );
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  expect(ignoredIn(worktree)).toEqual([
    "all/sub/y",
    "all/x",
    "logs/a.log",
    '"logs/caf\\351.log"',
    "node_modules/a/b",
  ]);
  expect(git(worktree, "status", "--porcelain")).toBe("");
});

test("the state of an installation inside of the checkout never comes along", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "mkdir -p ignored/area; echo 1 > ignored/mine; echo 1 > ignored/area/own");
  const options = { type: "git-repository", properties: { include: ["ignored/"] } } as const;
  await using bench = await openBench(GIT, root, join(root, "ignored/area/state"), options);
  const found = run("find", ["ignored", "-type", "f"], await bench.sandbox.getPath());
  expect(found.trim().split("\n").toSorted()).toEqual(["ignored/area/own", "ignored/mine"]);
});
