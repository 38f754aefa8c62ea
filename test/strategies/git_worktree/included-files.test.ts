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

test("other worktrees of the repository never come along", async () => {
  const checkout = makeCheckout();
  shell(
    checkout.root,
    `echo 'ignored/' > .worktreeinclude; git add .; git commit -qm list
     mkdir ignored; echo 1 > ignored/own; git worktree add -q --detach ignored/theirs`,
  );
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  expect(shell(worktree, "ls ignored")).toBe("own\n");
});

test("a repository in a folder that came along stays in the sandbox, also when nothing ignores it any more", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(
    root,
    `echo 'ignored/' > .worktreeinclude; git add .; git commit -qm list; git init -q ignored/dep
     cd ignored/dep; echo 1 > own; git add own; git -c user.name=t -c user.email=t@t.invalid commit -qm dep`,
  );
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), "echo '*.log' > .gitignore; echo edited > a.txt");
  const { changes } = await sandbox.diff();
  expect(changes.map(({ path }) => path)).toEqual([".gitignore", "a.txt"]);
  await sandbox.commit();
  expect(git(root, "show", "--format=", "--name-only")).toBe(".gitignore\na.txt");
});

const LISTED = `echo .env > .worktreeinclude; echo ignored/ >> .worktreeinclude; git add .worktreeinclude; git commit -qm list
  echo SECRET > .env; mkdir ignored; echo lib > ignored/lib`;

test.each([
  ["nothing ignores them any more", "echo '*.log' > .gitignore; echo more > ignored/new"],
  ["they are staged by force", "git add -f .env ignored; echo x > b.txt"],
  ["they are staged and changed", "git add -f .env; echo more >> .env; echo x > b.txt"],
  ["they are staged and removed", "git add -f .env; rm .env; echo x > b.txt"],
])("files that came along are neither in a diff nor in a commit when %s", async (_name, edit) => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, LISTED);
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), edit);
  const [edited = ""] = edit.match(/\.gitignore|b\.txt/) ?? [];
  expect((await sandbox.diff()).changes.map(({ path }) => path)).toEqual([edited]);
  const { warnings } = await sandbox.commit();
  expect(warnings).toHaveLength(1);
  expect(git(root, "show", "--format=", "--name-only")).toBe(edited);
  expect(shell(root, "cat .env ignored/lib")).toBe("SECRET\nlib\n");
});

test("a commit in the worktree with a file that came along is refused by name, until it is taken back", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, LISTED);
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(
    worktree,
    `echo x > b.txt; git add -f b.txt .env; git commit -qm inside
     git rm -q --cached .env; git commit -qm 'without it'`,
  );
  await expect(sandbox.commit()).rejects.toMatchObject({
    code: "SANDBOX_COMMIT",
    data: { reason: "included", paths: [".env"] },
  });
  expect(git(root, "log", "--format=%s", "-1")).toBe("list");
  git(worktree, "reset", "--soft", git(root, "rev-parse", "HEAD"));
  await sandbox.commit();
  expect(git(root, "log", "--name-only", "--format=", "HEAD~..", "--").split("\n")).toEqual([
    "b.txt",
  ]);
});

test("a file that came along and that the branch has since is a file as any other", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, LISTED);
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(root, "git add -f .env; git commit -qm public");
  shell(await sandbox.getPath(), "rm .env; git merge -q main; echo more >> .env");
  expect((await sandbox.diff()).changes.map(({ path }) => path)).toEqual([".env"]);
  await sandbox.commit();
  expect(git(root, "show", "HEAD:.env")).toBe("SECRET\nmore");
});

test("files that came along stay in a fork of the sandbox, and after a rollback", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, LISTED);
  await using bench = await openGit(checkout);
  const { sandbox, coffer, ref } = bench;
  const other = await (await coffer.plan("plan")).fork("other");
  await sandbox.rollback();
  for (const one of [other.sandbox(ref.resourceId), sandbox]) {
    shell(await one.getPath(), "echo nothing > .gitignore");
    expect((await one.diff()).changes.map(({ path }) => path)).toEqual([".gitignore"]);
  }
  await other.cleanup({ force: true });
});
