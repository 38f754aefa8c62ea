import { expect, test } from "vitest";
import type { Sandbox, SandboxCommitError } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { type Checkout, filesOf, git, gitState, makeCheckout, openGit } from "./checkout.ts";

const SECOND = "echo second > b.txt; git commit -qam second";
const THEIRS = "echo theirs > theirs.txt; echo B > b.txt; git add -A";
const AMEND = `${THEIRS}; git commit -q --amend -m amended`;
/** What \`git pull --rebase\` does: the own commit is made anew on top of what others did. */
const PULL = `git checkout -q -b upstream HEAD~; echo theirs > theirs.txt; git add -A
  git commit -qm upstream; git checkout -q main; git rebase -q upstream`;
const REBASE = "git rebase -q --autostash --onto main";

async function editsOf(sandbox: Sandbox): Promise<string[]> {
  return (await sandbox.diff()).changes.map(({ kind, path }) => `${kind} ${path}`);
}

/** A checkout with two commits on its branch. */
function makeSecond(): Checkout {
  const checkout = makeCheckout();
  shell(checkout.root, SECOND);
  return checkout;
}

test.each([
  ["amended", AMEND],
  ["rebased", PULL],
  ["moved back", "git reset -q --hard HEAD~"],
])(
  "a branch that was %s is continued as it is once the worktree was rebased onto it, and that is undone (R46, R53)",
  async (_name, rewrite) => {
    const checkout = makeSecond();
    const { root } = checkout;
    const first = git(root, "rev-parse", "HEAD");
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(worktree, "echo mine > mine.txt; git add -A; git commit -qm mine; echo edited > a.txt");
    shell(root, rewrite);
    const tip = git(root, "rev-parse", "HEAD");
    shell(worktree, `${REBASE} ${first}`);
    const [files, state] = [filesOf(root), gitState(root)];
    expect(await editsOf(sandbox)).toEqual(["modified a.txt", "added mine.txt"]);
    expect(await sandbox.diff()).toMatchObject({ commits: 1 });
    expect((await sandbox.diff()).strayCommits).toBeUndefined();
    const { warnings } = await sandbox.commit({ message: "edited" });
    expect(warnings).toEqual([]);
    expect(git(root, "log", "--format=%s", `${tip}..HEAD`)).toBe("edited\nmine");
    expect(() => git(root, "merge-base", "--is-ancestor", first, "HEAD")).toThrow();
    await sandbox.undoCommit();
    expect(gitState(root)).toBe(state);
    expectOracleEqual(files, filesOf(root));
  },
);

test("what others commit after the worktree was rebased onto the rewritten branch is merged, and no edit (R53)", async () => {
  const checkout = makeSecond();
  const { root } = checkout;
  const first = git(root, "rev-parse", "HEAD");
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(worktree, "echo mine > mine.txt; git add -A; git commit -qm mine");
  shell(root, AMEND);
  shell(worktree, `${REBASE} ${first}`);
  shell(root, "echo later > later.txt; git add -A; git commit -qm later");
  expect(await editsOf(sandbox)).toEqual(["added mine.txt"]);
  await sandbox.write("theirs.txt", "edited\n");
  await sandbox.drop(["theirs.txt"]);
  expect(await editsOf(sandbox)).toEqual(["added mine.txt"]);
  const tip = git(root, "rev-parse", "HEAD");
  expect((await sandbox.commit()).warnings).toEqual([]);
  expect(git(root, "diff", "--name-status", tip, "HEAD")).toBe("A\tmine.txt");
  expect(git(root, "log", "--format=%s")).not.toContain("second");
});

test("a branch whose very first commit was amended is refused with the way to take it in", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  await sandbox.write("mine.txt", "mine\n");
  shell(root, AMEND);
  const [files, state] = [filesOf(root), gitState(root)];
  const refusal = await sandbox.commit().catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "SANDBOX_COMMIT", data: { reason: "unrelated" } });
  expectOracleEqual(files, filesOf(root));
  expect(gitState(root)).toBe(state);
  const [, command = ""] = /`coffer exec PLAN -- (.*?)`/.exec(
    (refusal as Error & { hint: string }).hint,
  )!;
  shell(await sandbox.getPath(), command);
  expect(await editsOf(sandbox)).toEqual(["added mine.txt"]);
  await sandbox.commit();
  expect(git(root, "diff", "--name-status", "HEAD~", "HEAD")).toBe("A\tmine.txt");
});

test.each(["trunk", "it's;odd"])(
  "a commit after the branch was renamed to %s names the command that gives it its name back",
  async (name) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    await bench.sandbox.write("a.txt", "edited\n");
    git(root, "branch", "-m", "main", name);
    const refusal = await bench.sandbox.commit().catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      message: expect.stringContaining("refs/heads/main, which is gone,") as string,
      data: { reason: "branchSwitched" },
    });
    const [, command = ""] = /\((?:.*?)`(.*)`\)/.exec((refusal as SandboxCommitError).hint ?? "")!;
    shell(root, command);
    await bench.sandbox.commit();
    expect(git(root, "show", "main:a.txt")).toBe("edited");
  },
);

test("a commit while another branch is checked out is refused, and done once the first one is there again", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  git(root, "switch", "-q", "-c", "other");
  await expect(bench.sandbox.commit()).rejects.toMatchObject({
    message: expect.not.stringContaining("gone") as string,
    data: { reason: "branchSwitched" },
    hint: expect.stringContaining("Switch the checkout back") as string,
  });
  git(root, "switch", "-q", "main");
  await bench.sandbox.commit();
  expect(git(root, "show", "main:a.txt")).toBe("edited");
});
