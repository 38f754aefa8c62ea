import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxCreationError, openCofferdam } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { shell } from "../shell.ts";
import { EDITS, filesOf, git, gitState, knownOf, makeCheckout, openGit } from "./checkout.ts";

test("leaves checkout, index, stash, branch and hooks as they were when a sandbox is made (R45)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  const marker = join(checkout.folder, "hook-ran");
  shell(
    root,
    `echo stashed >> a.txt; git stash -q; echo dirty >> b.txt; echo staged > s; git add s; echo u > u
     printf '#!/bin/sh\\ntouch ${marker}\\n' > .git/hooks/post-checkout; chmod 755 .git/hooks/post-checkout`,
  );
  const [files, state] = [filesOf(root), gitState(root)];
  const index = shell(root, "sha256sum .git/index .git/hooks/post-checkout .git/config");
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  expectOracleEqual(files, filesOf(root));
  expect(shell(root, "sha256sum .git/index .git/hooks/post-checkout .git/config")).toBe(index);
  expect(gitState(root).replaceAll(/^.*refs\/heads\/cofferdam.*$\n?/gm, "")).toBe(state);
  expect(existsSync(marker)).toBe(false);
  expect(git(worktree, "rev-parse", "HEAD")).toBe(git(root, "rev-parse", "main"));
  expect(git(worktree, "status", "--porcelain")).toBe("");
  expect(git(worktree, "symbolic-ref", "HEAD")).toMatch(/^refs\/heads\/cofferdam-[0-9a-z]{26}$/);
});

test("keeps two plans on one repository apart (R45)", async () => {
  const checkout = makeCheckout();
  const coffer = await openCofferdam({
    stateDirectory: join(checkout.folder, "state"),
    config: false,
  });
  const resource = { resourceId: "r", type: "git-repository", location: checkout.root };
  const [one, two] = await Promise.all(
    ["one", "two"].map(async (plan) => coffer.sandbox(await coffer.create(plan, resource))),
  );
  await one!.write("a.txt", "by one\n");
  await two!.write("b.txt", "by two\n");
  expect((await one!.diff()).changes.map(({ path }) => path)).toEqual(["a.txt"]);
  expect((await two!.diff()).changes.map(({ path }) => path)).toEqual(["b.txt"]);
  await one!.commit({ message: "one" });
  await two!.commit({ message: "two" });
  expect(readFileSync(join(checkout.root, "a.txt"), "utf8")).toBe("by one\n");
  expect(readFileSync(join(checkout.root, "b.txt"), "utf8")).toBe("by two\n");
  expect(git(checkout.root, "status", "--porcelain")).toBe("");
  // Two commits of the same second have no order in the log.
  const subjects = git(checkout.root, "log", "--no-merges", "--format=%s").split("\n");
  expect(subjects.toSorted()).toEqual(["first", "one", "two"]);
  for (const sandbox of [one!, two!]) await sandbox.cleanup();
  await coffer.close();
});

test("lists on request what others committed on the branch where the sandbox changes nothing", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "ours\n");
  expect((await bench.sandbox.diff({ drift: "full" })).drift).toEqual([]);
  shell(
    checkout.root,
    "echo theirs >> a.txt; echo theirs >> b.txt; git rm -q docs/page; echo n > n; git add -A; git commit -qm theirs",
  );
  const { changes, drift } = await bench.sandbox.diff({ drift: "full" });
  expect(changes.map(({ path }) => path)).toEqual(["a.txt"]);
  expect(drift).toEqual([
    { path: "b.txt", reason: "changed" },
    { path: "docs/page", reason: "missing" },
    { path: "n", reason: "new" },
  ]);
  expect((await bench.sandbox.diff()).drift).toBeUndefined();
  shell(checkout.root, "git checkout -q -b other; git branch -q -D main");
  expect((await bench.sandbox.diff({ drift: "full" })).drift).toEqual([]);
});

test("lists every kind of edit, leaves ignored files out and changes nothing by looking", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  shell(worktree, `${EDITS} echo hidden > x.tmp`);
  const objects = shell(checkout.root, "find .git/objects -type f | sort");
  const diff = await bench.sandbox.diff();
  expect(diff.changes.map(({ path, kind }) => `${path} ${kind}`)).toEqual([
    "a.txt modified",
    "b.txt modeChanged",
    "docs added",
    "docs/page deleted",
    "link linkChanged",
    "made/deep/file added",
    "new-name added",
    "new.txt added",
    "old-name deleted",
    "src/deep/leaf deleted",
    "src/gone deleted",
  ]);
  const renamed = diff.changes.find(({ path }) => path === "new-name");
  expect(renamed?.renamedFrom).toBe("old-name");
  expect(await diff.text({ paths: ["a.txt"] })).toContain("-one\n+ONE\n");
  expect((await bench.sandbox.diff()).digest).toBe(diff.digest);
  expect(shell(checkout.root, "find .git/objects -type f | sort")).toBe(objects);
});

test("a rollback discards tracked, untracked and ignored edits, and the path goes on working (R54)", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const fresh = filesOf(await sandbox.getPath());
  shell(
    await sandbox.getPath(),
    `${EDITS} echo i > x.tmp; mkdir ignored; echo i > ignored/i; chmod 600 tool; git commit -qam own`,
  );
  await sandbox.rollback();
  const worktree = await sandbox.getPath();
  expect(await bench.coffer.status(bench.ref)).toBe("ACTIVE");
  expectOracleEqual(fresh, filesOf(worktree), { ignore: ["mtimes"] });
  expect(git(worktree, "status", "--porcelain")).toBe("");
  expect((await sandbox.diff()).isEmpty).toBe(true);
});

test.each([
  ["nothing special", ":"],
  ["the directory removed by hand", 'rm -rf "$W"'],
  [
    "a lock left in the worktree",
    'for d in .git/worktrees/cofferdam-*; do touch "$d/index.lock" "$d/HEAD.lock"; done',
  ],
  [
    "a merge interrupted in the worktree",
    "git rev-parse HEAD > .git/worktrees/$(basename $W)/MERGE_HEAD",
  ],
])("cleanup leaves no trace in the repository after %s (R55)", async (_name, script) => {
  const checkout = makeCheckout();
  shell(checkout.root, "git worktree add -q ../mine -b mine");
  const before = knownOf(checkout.root);
  {
    await using bench = await openGit(checkout);
    await bench.sandbox.write("a.txt", "edited\n");
    shell(checkout.root, `W=${await bench.sandbox.getPath()}; ${script}`);
  }
  expect(knownOf(checkout.root)).toBe(before);
  expect(shell(checkout.folder, "find state -name 'cofferdam-*'")).toBe("");
});

test("cleanup removes what the settings of the repository have of our branch, and nothing else (R55)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(
    root,
    "git branch mine; git branch -q -u main mine; git config branch.cofferdam-x.note mine",
  );
  const settings = (): string => git(root, "config", "--local", "--list");
  const before = settings();
  {
    await using bench = await openGit(checkout);
    shell(await bench.sandbox.getPath(), "git branch -q -u main; git config branch.mine.note kept");
    expect(settings()).toContain("branch.cofferdam-0");
  }
  expect(settings().split("\n").toSorted()).toEqual(
    [...before.split("\n"), "branch.mine.note=kept"].toSorted(),
  );
});

test("a cleanup by force while the repository is elsewhere says what is left in it", async () => {
  const checkout = makeCheckout();
  const { folder, root } = checkout;
  const before = knownOf(root);
  await using bench = await openGit(checkout);
  const branch = `cofferdam-${bench.ref.sandboxId}`;
  const pins = `refs/cofferdam/${bench.ref.sandboxId}`;
  await bench.sandbox.checkpoint("kept");
  shell(folder, "mv real moved");
  await bench.sandbox.cleanup({ force: true });
  const told = bench.events.filter(({ name }) => name === "sandbox.worktreeLeft");
  expect(told).toMatchObject([{ level: "warning", data: { repository: root, branch, pins } }]);
  shell(folder, "mv moved real");
  expect(knownOf(root)).toContain(branch);
  shell(
    root,
    `git worktree remove -ff ${branch}; git branch -q -D ${branch}
     git for-each-ref --format='delete %(refname)' ${pins} | git update-ref --stdin`,
  );
  expect(knownOf(root)).toBe(before);
});

test("a directory without a repository is refused, and no other strategy takes its place (R59)", async () => {
  const folder = tempFolder();
  shell(folder, "mkdir plain; echo x > plain/x");
  const attempt = openGit({ folder, root: join(folder, "plain") });
  await expect(attempt).rejects.toBeInstanceOf(SandboxCreationError);
  await expect(attempt).rejects.toMatchObject({ data: { stage: "notRepository", residue: [] } });
  expect(shell(folder, "find plain state -name '*cofferdam*' -o -name sandboxes")).toBe("");
});

test("files that git ignores come along when they are on a list, and never reach a commit", async () => {
  const checkout = makeCheckout();
  shell(
    checkout.root,
    `echo SECRET=1 > .env; mkdir -p ignored/pkg; echo lib > ignored/pkg/lib; echo t > other.tmp
     echo ignored/ > .worktreeinclude; git add .worktreeinclude; git commit -qm list; echo u > untracked`,
  );
  await using bench = await openGit(checkout, { properties: { include: [".env", "untracked"] } });
  const worktree = await bench.sandbox.getPath();
  expect(readFileSync(join(worktree, ".env"), "utf8")).toBe("SECRET=1\n");
  expect(readFileSync(join(worktree, "ignored/pkg/lib"), "utf8")).toBe("lib\n");
  expect(existsSync(join(worktree, "other.tmp"))).toBe(false);
  expect(existsSync(join(worktree, "untracked"))).toBe(false);
  shell(worktree, "echo changed > .env");
  expect((await bench.sandbox.diff()).isEmpty).toBe(true);
  await bench.sandbox.rollback();
  expect(readFileSync(join(worktree, ".env"), "utf8")).toBe("SECRET=1\n");
});
