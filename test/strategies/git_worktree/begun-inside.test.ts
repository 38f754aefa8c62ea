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

/** What stops with commits still to be replayed, and how it goes on. */
const REPLAYS = [
  ["a rebase", "git rebase -q main", "git rebase --continue"],
  ["a rebase by mails", "git rebase -q --apply main", "git rebase --continue"],
  ["a rebase at a stop for edits", EDIT_FIRST, "git rebase --continue"],
  ["an am", MAILS, "git am --continue"],
  ["a cherry-pick", "git cherry-pick main~ main", "git cherry-pick --continue"],
  ["a revert", `${AGAIN}; git revert HEAD~2 HEAD~`, "git revert --continue"],
] as const;

test.each(REPLAYS)(
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

test.each(REPLAYS)(
  "%s with commits still to be replayed is no state to keep, to fork or to go back from, and loses nothing by that",
  async (_name, begin, end) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox, coffer } = bench;
    const worktree = await sandbox.getPath();
    const plan = await coffer.plan("plan");
    await sandbox.checkpoint("own");
    await plan.checkpoint("early");
    shell(worktree, MINE);
    shell(root, THEIRS);
    shell(worktree, `(${begin}) > /dev/null 2>&1 || true; echo both > a.txt; git add a.txt`);
    const isThere = "cat a.txt; git rev-parse HEAD; git diff --cached; git status";
    const before = [shell(worktree, isThere), gitState(root), bench.events.length];
    for (const call of [
      () => sandbox.checkpoint("late"),
      () => sandbox.restoreCheckpoint("own"),
      () => plan.checkpoint("late"),
      () => plan.restoreCheckpoint("early"),
      () => plan.fork("second"),
    ]) {
      const refusal = await call().catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(SandboxCommitError);
      expect(refusal).toMatchObject({
        planId: "plan",
        data: { reason: "operationInProgress", paths: [worktree] },
      });
      expect([shell(worktree, isThere), gitState(root), bench.events.length]).toEqual(before);
    }
    expect((await plan.checkpoints()).map(({ id }) => id)).toEqual(["early"]);
    expect(await coffer.list("second")).toEqual([]);
    shell(worktree, `GIT_EDITOR=true ${end} > /dev/null 2>&1`);
    shell(worktree, "git merge -q -s ours --no-edit main");
    const head = git(worktree, "rev-parse", "HEAD");
    await plan.restoreCheckpoint("early");
    const [kept] = (await plan.checkpoints()).filter(({ automatic }) => automatic);
    await plan.restoreCheckpoint(kept?.id ?? "");
    await sandbox.commit();
    expect(git(root, "rev-parse", "HEAD")).toBe(head);
  },
);

test.each(REPLAYS)(
  "%s with commits still to be replayed is no hindrance to a fork of a checkpoint, a rollback or a cleanup",
  async (_name, begin) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox, coffer } = bench;
    const worktree = await sandbox.getPath();
    const plan = await coffer.plan("plan");
    shell(worktree, MINE);
    await plan.checkpoint("whole");
    shell(root, THEIRS);
    const stop = `(${begin}) > /dev/null 2>&1 || true`;
    shell(worktree, stop);
    const fork = (await plan.fork("second", { from: "whole" })).sandbox("r");
    expect(shell(await fork.getPath(), "git log -2 --format=%s")).toBe("two\none\n");
    await fork.cleanup({ force: true });
    await sandbox.rollback();
    expect(shell(await sandbox.getPath(), "git status --short; cat a.txt")).toBe("theirs\n");
    shell(worktree, `git reset -q --hard main~2; ${MINE}; ${stop}`);
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
