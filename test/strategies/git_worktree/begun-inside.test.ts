import { expect, test } from "vitest";
import { SandboxCommitError } from "../../../src/index.ts";
import { shell } from "../shell.ts";
import { git, gitState, makeCheckout, openGit } from "./checkout.ts";

const MINE = "echo one > a.txt; git commit -qam one; echo two > b.txt; git commit -qam two";
const THEIRS =
  "echo theirs > a.txt; git commit -qam theirs; echo more > tool; git commit -qam more";
const EDIT_FIRST = "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -i HEAD~2";
const MAILS = "git format-patch -q -o ../mails HEAD~2; git reset -q --hard main; git am ../mails/*";
const AGAIN = "echo three > a.txt; git commit -qam three";

test.each([
  ["a rebase", "git rebase -q main", "git rebase --continue"],
  ["a rebase by mails", "git rebase -q --apply main", "git rebase --continue"],
  ["a rebase at a stop for edits", EDIT_FIRST, "git rebase --continue"],
  ["an am", MAILS, "git am --continue"],
  ["a cherry-pick", "git cherry-pick main~ main", "git cherry-pick --continue"],
  ["a revert", `${AGAIN}; git revert HEAD~2 HEAD~`, "git revert --continue"],
])(
  "%s with commits still to be replayed in the worktree is no state to commit, and once it has ended all of it is",
  async (_name, begin, end) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(worktree, MINE);
    shell(root, THEIRS);
    shell(worktree, `(${begin}) > /dev/null 2>&1 || true; echo both > a.txt; git add a.txt`);
    const before = gitState(root);
    const refusal = await sandbox.commit().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SandboxCommitError);
    expect(refusal).toMatchObject({ data: { reason: "operationInProgress", paths: [worktree] } });
    expect(gitState(root)).toBe(before);
    shell(worktree, `GIT_EDITOR=true ${end} > /dev/null 2>&1`);
    const tree = git(worktree, "rev-parse", "HEAD^{tree}");
    shell(worktree, "git merge -q -s ours --no-edit main");
    await sandbox.commit();
    expect(git(root, "rev-parse", "HEAD^{tree}")).toBe(tree);
  },
);

test.each([
  ["a merge", "git merge -q --no-commit --no-ff main"],
  ["the last commit of a cherry-pick", "git cherry-pick main main~"],
  ["a bisect", "git bisect start HEAD HEAD~2"],
])(
  "%s that was begun in the worktree has everything there, and is committed",
  async (_name, begin) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(worktree, MINE);
    shell(root, THEIRS);
    shell(worktree, `(${begin}) > /dev/null 2>&1 || true; echo theirs > a.txt; git add a.txt`);
    await sandbox.commit();
    expect(shell(root, "cat a.txt; git status --porcelain")).toBe("theirs\n");
  },
);
