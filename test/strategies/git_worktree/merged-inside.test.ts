import { expect, test } from "vitest";
import { type Sandbox, SandboxCommitError, SandboxPathError } from "../../../src/index.ts";
import { shell } from "../shell.ts";
import { git, makeCheckout, openGit } from "./checkout.ts";

const MINE = "echo mine > mine.txt; git add -A; git commit -qm mine";
const THEIRS = "echo theirs > theirs.txt; echo B > b.txt; git add -A; git commit -qm theirs";

async function editsOf(sandbox: Sandbox): Promise<string[]> {
  return (await sandbox.diff()).changes.map(({ kind, path }) => `${kind} ${path}`);
}

/** What a commit published, as git tells it: the branch before against the branch after. */
function publishedBy(root: string, before: string): string[] {
  const kinds: Readonly<Record<string, string>> = { A: "added", D: "deleted", M: "modified" };
  const lines = git(root, "diff", "--name-status", "--no-renames", before, "HEAD").split("\n");
  return lines.map((line) => line.replace(/^(\w)\t/, (_all, kind: string) => `${kinds[kind]} `));
}

test.each([
  ["merged", "git merge -q --no-edit main"],
  ["rebased onto", "git rebase -q main"],
  ["being merged", "git merge -q --no-commit --no-ff main"],
])(
  "a diff tells what the commit publishes after the branch was taken in: %s (R46, R53)",
  async (_name, take) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(worktree, MINE);
    shell(root, THEIRS);
    const tip = git(root, "rev-parse", "HEAD");
    expect(await editsOf(sandbox)).toEqual(["added mine.txt"]);
    shell(worktree, take);
    expect(await editsOf(sandbox)).toEqual(["added mine.txt"]);
    await expect(sandbox.drop(["theirs.txt"])).rejects.toBeInstanceOf(SandboxPathError);
    const reviewed = (await sandbox.diff()).digest;
    shell(worktree, "rm theirs.txt; echo edited > b.txt");
    const edits = ["modified b.txt", "added mine.txt", "deleted theirs.txt"];
    expect(await editsOf(sandbox)).toEqual(edits);
    const refusal = sandbox.commit({ expect: reviewed });
    await expect(refusal).rejects.toBeInstanceOf(SandboxCommitError);
    expect(git(root, "rev-parse", "HEAD")).toBe(tip);
    expect(await (await sandbox.diff()).text()).toContain("-B\n+edited\n");
    await sandbox.commit({ expect: (await sandbox.diff()).digest });
    expect(publishedBy(root, tip)).toEqual(edits);
  },
);

test("an edit of what was taken in is taken back to what the branch has, and others' commits stay (R53)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(worktree, MINE);
  shell(root, THEIRS);
  const tip = git(root, "rev-parse", "HEAD");
  shell(worktree, "git merge -q --no-edit main; git rm -q theirs.txt; echo edited > b.txt");
  expect(await sandbox.write("b.txt", "again\n")).toMatchObject({ before: { size: 2 } });
  await sandbox.drop(["theirs.txt", "b.txt"]);
  expect(await editsOf(sandbox)).toEqual(["added mine.txt"]);
  await sandbox.commit();
  expect(publishedBy(root, tip)).toEqual(["added mine.txt"]);
  expect(shell(root, "cat theirs.txt b.txt; git status --porcelain")).toBe("theirs\nB\n");
});

test("what others commit after a merge inside is drift, what was merged is none, and both stay", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), MINE);
  shell(root, THEIRS);
  shell(await sandbox.getPath(), "git merge -q --no-edit main");
  shell(root, "echo later > later.txt; git add -A; git commit -qm later");
  const tip = git(root, "rev-parse", "HEAD");
  const { changes, drift } = await sandbox.diff({ drift: "full" });
  expect(changes.map(({ path }) => path)).toEqual(["mine.txt"]);
  expect(drift).toMatchObject([{ path: "later.txt", reason: "new" }]);
  await sandbox.commit();
  expect(publishedBy(root, tip)).toEqual(["added mine.txt"]);
});

test("a conflict with what the branch took back after a merge inside can be settled (R53)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(root, "echo second > b.txt; git commit -qam second");
  shell(await sandbox.getPath(), "git merge -q --no-edit main; echo mine > b.txt");
  shell(root, "git revert --no-edit HEAD > /dev/null");
  await expect(sandbox.commit()).rejects.toMatchObject({ code: "SANDBOX_CONFLICT" });
  await sandbox.resolve(["b.txt"], "mine");
  await sandbox.commit();
  expect(git(root, "show", "HEAD:b.txt")).toBe("mine");
});

test.each([
  ["a merge", "git merge -q --no-edit main"],
  ["a detached checkout of the branch", "git checkout -q --detach main"],
  ["another branch", "git checkout -q -b other main"],
])(
  "a checkpoint from before %s publishes what it held, and takes nothing of others back (R46)",
  async (_name, take) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(worktree, "echo mine > mine.txt");
    await sandbox.checkpoint("before");
    shell(root, THEIRS);
    const tip = git(root, "rev-parse", "HEAD");
    shell(worktree, `rm mine.txt; ${take}; echo edited > theirs.txt`);
    await sandbox.checkpoint("after");
    await sandbox.restoreCheckpoint("before");
    expect(await editsOf(sandbox)).toEqual(["added mine.txt"]);
    await sandbox.restoreCheckpoint("after");
    expect(await editsOf(sandbox)).toEqual(["modified theirs.txt"]);
    await sandbox.restoreCheckpoint("before");
    await sandbox.commit();
    expect(publishedBy(root, tip)).toEqual(["added mine.txt"]);
  },
);

test("an older commit that is checked out inside is told as the edits that it makes (R46)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, THEIRS);
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const tip = git(root, "rev-parse", "HEAD");
  shell(await sandbox.getPath(), "git reset -q --hard HEAD~");
  const edits = ["modified b.txt", "deleted theirs.txt"];
  expect(await editsOf(sandbox)).toEqual(edits);
  await sandbox.commit();
  expect(publishedBy(root, tip)).toEqual(edits);
});

test("a commit that the branch gave up meanwhile is told before it comes back with edits on top of it (R46)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, THEIRS);
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(root, "git reset -q --hard HEAD~");
  const tip = git(root, "rev-parse", "HEAD");
  await sandbox.write("mine.txt", "mine\n");
  const edits = ["modified b.txt", "added mine.txt", "added theirs.txt"];
  expect(await editsOf(sandbox)).toEqual(edits);
  await sandbox.commit();
  expect(publishedBy(root, tip)).toEqual(edits);
});

test("a sandbox without edits has none to tell or to publish when the branch has gone back", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, THEIRS);
  await using bench = await openGit(checkout);
  shell(root, "git reset -q --hard HEAD~");
  const tip = git(root, "rev-parse", "HEAD");
  expect(await editsOf(bench.sandbox)).toEqual([]);
  expect(await bench.sandbox.commit()).toMatchObject({ noop: true });
  expect(git(root, "rev-parse", "HEAD")).toBe(tip);
});

test("a fork tells and publishes the edits of a sandbox that has taken the branch in, with its commits", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox, coffer } = bench;
  shell(await sandbox.getPath(), MINE);
  shell(root, THEIRS);
  const tip = git(root, "rev-parse", "HEAD");
  shell(
    await sandbox.getPath(),
    "git checkout -q --detach; git merge -q --no-edit main; rm theirs.txt",
  );
  const fork = (await (await coffer.plan("plan")).fork("second")).sandbox("r");
  const edits = ["added mine.txt", "deleted theirs.txt"];
  expect(await editsOf(fork)).toEqual(edits);
  await fork.commit();
  expect(publishedBy(root, tip)).toEqual(edits);
  expect(git(root, "log", "--format=%s").split("\n")).toContain("mine");
  await fork.cleanup({ force: true });
});

test.each([
  ["rebase", "git rebase -q main", false],
  ["rebase of mails", "git rebase -q --apply main", false],
  ["sequence of cherry-picks", "git cherry-pick main~ main", false],
  ["cherry-pick", "git cherry-pick main~", true],
  ["revert", "git revert --no-edit HEAD~", true],
  ["bisect", "git bisect start HEAD HEAD~2", true],
])(
  "a %s that was begun in the worktree has ended after a return to an earlier state (R54)",
  async (_name, begin, isWhole) => {
    const checkout = makeCheckout();
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    const edit = (text: string): string => `echo ${text} > a.txt; git commit -qam ${text};`;
    shell(worktree, `${edit("one")} ${edit("two")} echo kept > new.txt`);
    shell(checkout.root, `${edit("theirs")} ${edit("more")}`);
    await sandbox.checkpoint("before");
    const said = (): string => shell(worktree, "git status | grep -E 'urrently|rogress' || true");
    const ways = {
      // The state before is kept, which cannot be while commits are still to be replayed.
      ...(isWhole && { "two\nkept\n": () => sandbox.restoreCheckpoint("before") }),
      "more\n": () => sandbox.rollback(),
    };
    for (const [content, goBack] of Object.entries(ways)) {
      shell(worktree, `${begin} > /dev/null 2>&1 || true`);
      expect(said()).not.toBe("");
      await goBack();
      await sandbox.getPath();
      expect(said()).toBe("");
      expect(
        shell(worktree, "git bisect log 2> /dev/null || true; git for-each-ref refs/bisect"),
      ).toBe("");
      expect(shell(worktree, "cat a.txt; cat new.txt 2> /dev/null || true")).toBe(content);
    }
  },
);
