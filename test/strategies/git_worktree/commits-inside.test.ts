import { expect, test } from "vitest";
import { shell } from "../shell.ts";
import { filesOf, git, gitState, makeCheckout, openGit } from "./checkout.ts";
import { expectOracleEqual } from "../../support/oracle.ts";

const FEATURE =
  "git checkout -q -b feature; echo f > f; git add f; git commit -qm feature; git checkout -q main";

test.each([
  ["an empty commit", "git commit -q --allow-empty -m release", 1],
  ["a merge that keeps our files", "git merge -q -s ours --no-edit feature", 2],
  ["a merge in progress that keeps our files", "git merge -q -s ours --no-commit feature", 1],
  ["a commit that was reverted", "echo x > a.txt; git commit -qam x; git revert --no-edit HEAD", 2],
])(
  "%s in the worktree is published although no file differs, and undone",
  async (_name, make, count) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    shell(root, FEATURE);
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    const [files, state] = [filesOf(root), gitState(root)];
    shell(worktree, `${make} > /dev/null`);
    const head = git(worktree, "rev-parse", "HEAD");
    expect(await sandbox.diff()).toMatchObject({ isEmpty: true, commits: count });
    // Not before the worktree has taken in what others did.
    const before = git(root, "rev-parse", "main");
    shell(root, "git commit -q --allow-empty -m theirs");
    expect((await sandbox.diff()).commits).toBeUndefined();
    git(root, "reset", "-q", "--hard", before);
    const { noop, revision } = await sandbox.commit({ message: "ours" });
    expect({ noop, revision }).toEqual({ noop: false, revision: git(root, "rev-parse", "main") });
    shell(root, `git merge-base --is-ancestor ${head} main`);
    expect(git(root, "status", "--porcelain")).toBe("");
    expectOracleEqual(files, filesOf(root));
    git(root, "fsck", "--strict");
    await sandbox.undoCommit();
    expect(gitState(root).split("\n--\n").slice(0, 5)).toEqual(state.split("\n--\n").slice(0, 5));
    expectOracleEqual(files, filesOf(root));
  },
);

test("edits that only take back what was committed inside are no commit, and publish none (R48)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), "echo KEY > secret; git add secret; git commit -qm wip");
  await sandbox.drop(["secret"]);
  const { isEmpty, commits, strayCommits } = await sandbox.diff();
  expect({ isEmpty, commits, strayCommits }).toEqual({ isEmpty: true, strayCommits: 1 });
  const tip = git(root, "rev-parse", "HEAD");
  expect(await sandbox.commit()).toMatchObject({
    noop: true,
    warnings: [expect.stringContaining("1 commit ") as string],
  });
  expect(git(root, "rev-parse", "HEAD")).toBe(tip);
});

test.each([
  ["the first commit was amended", "echo x > a.txt; git commit -qa --amend -m other", 1],
  ["it was reset", "git reset -q --hard HEAD~; echo x > a.txt; git commit -qam x", 1],
  [
    "it has another history",
    "git checkout -q --orphan o; git commit -qm o; git commit -qm p --allow-empty",
    2,
  ],
  ["it was only reset", "git reset -q HEAD~", undefined],
])(
  "a diff tells how many commits of the worktree do not come along where %s, and their content does",
  async (_name, make, strayCommits) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    shell(root, "echo second > b.txt; git commit -qam second");
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    expect((await sandbox.diff()).strayCommits).toBeUndefined();
    shell(worktree, `echo new > new.txt; ${make}`);
    const view = await sandbox.diff();
    expect([view.commits, view.strayCommits]).toEqual([undefined, strayCommits]);
    await sandbox.commit({ message: "all of it" });
    expect(git(root, "log", "--format=%s")).toBe("all of it\nsecond\nfirst");
    expect(shell(root, "cat a.txt b.txt new.txt")).toBe(shell(worktree, "cat a.txt b.txt new.txt"));
  },
);

const TOP =
  "git checkout -q -b top; echo t > a.txt; git commit -qam top; git commit -q --allow-empty -m more; git checkout -q main";
const WIP = "echo x > a.txt; git commit -qam wip";
const STOPPED = "GIT_SEQUENCE_EDITOR='sed -i 1ibreak' git rebase -q -i";
const MAILED = "git format-patch -1 -o ../mails; git reset --hard HEAD~";

test.each([
  ["that it was moved away from", `${WIP}; git switch -q --detach HEAD~`, 1],
  ["of a rebase that stopped", `${WIP}; ${STOPPED} HEAD~`, 1],
  ["of a rebase without a branch", `git switch -q --detach; ${WIP}; ${STOPPED} HEAD~`, 1],
  ["of a rebase by mails", `${WIP}; echo y > b.txt; git commit -qam y; git rebase --apply top`, 2],
  ["whose edits were taken back", WIP, 1],
  ["of an am", `${WIP}; ${MAILED}; echo y > a.txt; git am ../mails/*`, 1],
  ["put aside by a rebase", `echo x > a.txt; ${STOPPED} --autostash HEAD`, 1],
  [
    "of another branch, at which it was",
    "git reset --hard top; git switch --detach main",
    undefined,
  ],
  ["that another branch keeps", `${WIP}; git branch kept; git switch --detach HEAD~`, undefined],
])(
  "a diff without edits tells of commits that only the sandbox still has: %s",
  async (_name, make, strayCommits) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    shell(root, TOP);
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const base = git(root, "rev-parse", "HEAD");
    shell(
      await sandbox.getPath(),
      `(${make}) > ../said 2>&1 || true; git checkout -q ${base} -- .`,
    );
    const view = await sandbox.diff();
    expect([view.changes, view.commits, view.strayCommits]).toEqual([[], undefined, strayCommits]);
  },
);

test("a diff tells how many commits come along with the edits, until they are taken apart", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(worktree, "echo x > a.txt");
  expect((await sandbox.diff()).commits).toBeUndefined();
  shell(worktree, "echo KEY > secret; git add -A; git commit -qm wip");
  await sandbox.drop(["secret"]);
  expect(await sandbox.diff()).toMatchObject({ commits: 1, changes: [{ path: "a.txt" }] });
  shell(root, "echo theirs > b.txt; git commit -qam theirs");
  expect(await sandbox.diff()).toMatchObject({ commits: 1 });
  shell(worktree, "git reset -q --soft HEAD~");
  expect((await sandbox.diff()).commits).toBeUndefined();
  await sandbox.commit();
  expect(git(root, "log", "--all", "--format=%h", "--", "secret")).toBe("");
});
