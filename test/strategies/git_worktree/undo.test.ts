import { existsSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxRollbackError } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { EDITS, filesOf, git, makeCheckout, openGit } from "./checkout.ts";

test("an undo takes branch, index and files back to the recorded commit, and keeps the edits (R49)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  shell(worktree, EDITS);
  const [files, index] = [filesOf(root), git(root, "ls-files", "-s")];
  const tip = git(root, "rev-parse", "HEAD");
  const edited = filesOf(worktree);
  await bench.sandbox.commit({ message: "kinds" });
  await bench.sandbox.undoCommit();
  expect(git(root, "rev-parse", "main")).toBe(tip);
  expect(git(root, "status", "--porcelain")).toBe("");
  expect(git(root, "ls-files", "-s")).toBe(index);
  expectOracleEqual(files, filesOf(root));
  expectOracleEqual(edited, filesOf(worktree));
  git(root, "fsck", "--strict");
  const again = await bench.sandbox.commit({ message: "again" });
  expect(git(root, "rev-parse", "main")).toBe(again.revision);
  expectOracleEqual(edited, filesOf(root), { ignore: ["mtimes"] });
});

test("an undo of a commit to a repository that was moved away says so, and goes on once it is back (R50)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  await bench.sandbox.commit();
  renameSync(root, `${root}-away`);
  for (const undo of [bench.sandbox.undoCommit(), bench.sandbox.rollback()])
    await expect(undo).rejects.toMatchObject({ code: "SANDBOX_PATH", data: { reason: "missing" } });
  renameSync(`${root}-away`, root);
  await bench.sandbox.undoCommit();
  expect(git(root, "status", "--porcelain")).toBe("");
});

test.each([
  ["a foreign commit", "echo f > f; git add f; git commit -qm foreign", "refs/heads/main"],
  ["another branch checked out", "git checkout -q -b other", "refs/heads/main"],
  ["a dirty file", "echo dirty >> a.txt", "a.txt"],
  ["a staged edit of a file", "cp a.txt k; echo d >> a.txt; git add a.txt; mv k a.txt", "a.txt"],
  ["a removed file", "rm new.txt", "new.txt"],
])(
  "refuses after %s and says what moved; every foreign byte survives (R50)",
  async (_name, script, path) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    shell(await bench.sandbox.getPath(), EDITS);
    await bench.sandbox.commit({ message: "kinds" });
    shell(root, script);
    const files = filesOf(root);
    const sums = "sha256sum .git/index .git/HEAD .git/refs/heads/*";
    const before = shell(root, `git status > /dev/null; ${sums} 2> /dev/null || true`);
    const attempt = bench.sandbox.rollback();
    await expect(attempt).rejects.toBeInstanceOf(SandboxRollbackError);
    await expect(attempt).rejects.toMatchObject({
      code: "SANDBOX_ROLLBACK",
      data: { reason: "foreignEdits", paths: [path] },
    });
    expect(shell(root, `${sums} 2> /dev/null || true`)).toBe(before);
    expectOracleEqual(files, filesOf(root));
    expect(existsSync(join(root, ".git/index.lock"))).toBe(false);
    expect(await bench.coffer.status(bench.ref)).toBe("COMMITTED");
  },
);

/** The command of git that the hint of a refused undo names. */
async function hintedCommand(undo: Promise<unknown>): Promise<string> {
  const refusal = (await undo.catch((error: unknown) => error)) as SandboxRollbackError;
  expect(refusal).toBeInstanceOf(SandboxRollbackError);
  const [, command] = /`(git [^`]*)`/.exec(refusal.hint ?? "") ?? [];
  return command ?? `no command in: ${refusal.hint}`;
}

test("an undo while another branch is checked out names the command that leads back, and works then (R50)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const tip = git(root, "rev-parse", "HEAD");
  await bench.sandbox.write("a.txt", "edited\n");
  await bench.sandbox.commit();
  git(root, "switch", "-q", "-c", "other");
  const command = await hintedCommand(bench.sandbox.undoCommit());
  expect(command).toBe("git switch main");
  shell(root, command);
  await bench.sandbox.undoCommit();
  expect(git(root, "rev-parse", "main")).toBe(tip);
});

const LATER = "git commit -q --allow-empty -m later";

test.each([
  ["a commit", "", "git revert "],
  [
    "a merge with what others did",
    "echo theirs >> b.txt; git commit -qam theirs",
    "git revert -m 1 ",
  ],
])(
  "an undo of %s under a later commit names the revert that git does, which takes it back (R50)",
  async (_name, meanwhile, revert) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    await bench.sandbox.write("a.txt", "edited\n");
    shell(root, meanwhile);
    const files = filesOf(root);
    await bench.sandbox.commit();
    shell(root, LATER);
    const command = await hintedCommand(bench.sandbox.undoCommit());
    expect(command.startsWith(revert)).toBe(true);
    shell(root, `${command} --no-edit`);
    expectOracleEqual(files, filesOf(root), { ignore: ["mtimes"] });
  },
);

test.each([
  ["was reset to before it", "git reset -q --hard HEAD~"],
  ["goes on from before it", "git reset -q --hard HEAD~; git commit -q --allow-empty -m other"],
  ["has it amended", "git commit -q --amend -m other"],
  ["has it while another without it is checked out", `${LATER}; git switch -q --detach HEAD~2`],
])(
  "an undo names no revert of a commit that the checkout does not have: the branch %s (R50)",
  async (_name, script) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    await bench.sandbox.write("a.txt", "edited\n");
    await bench.sandbox.commit();
    shell(root, script);
    await expect(bench.sandbox.undoCommit()).rejects.toMatchObject({
      data: { reason: "foreignEdits", paths: ["refs/heads/main"] },
      hint: expect.not.stringContaining("git revert") as string,
    });
  },
);

test("an undo under a later commit of a renamed branch names the revert that takes it back (R50)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const files = filesOf(root);
  await bench.sandbox.write("a.txt", "edited\n");
  await bench.sandbox.commit();
  shell(root, `git branch -m main trunk; ${LATER}`);
  shell(root, `${await hintedCommand(bench.sandbox.undoCommit())} --no-edit`);
  expectOracleEqual(files, filesOf(root), { ignore: ["mtimes"] });
});

test("an undo during a cherry-pick that somebody has not finished says how to give it up (R50)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  shell(root, "git switch -qc other; echo o > b.txt; git commit -qam o; git switch -q main");
  shell(root, "echo m > b.txt; git commit -qam m");
  const tip = git(root, "rev-parse", "HEAD");
  await bench.sandbox.commit();
  shell(root, "! git cherry-pick other 2> /dev/null");
  const command = await hintedCommand(bench.sandbox.undoCommit());
  expect(command).toBe("git cherry-pick --abort");
  shell(root, command);
  await bench.sandbox.undoCommit();
  expect(git(root, "rev-parse", "main")).toBe(tip);
});

test("an undo after the branch itself is gone says so (R50)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  await bench.sandbox.commit();
  git(root, "branch", "-m", "main", "trunk");
  await expect(bench.sandbox.undoCommit()).rejects.toMatchObject({
    message: expect.stringContaining("it is gone") as string,
    data: { paths: ["refs/heads/main"] },
  });
});

test("refuses while the branch is checked out in a second worktree, which stays as it is (R50)", async () => {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  await bench.sandbox.commit();
  git(root, "worktree", "add", "-q", "--force", join(folder, "second"), "main");
  await expect(bench.sandbox.rollback()).rejects.toMatchObject({
    data: { reason: "foreignEdits", paths: [join(folder, "second")] },
    hint: expect.stringContaining("Remove that worktree") as string,
  });
  expect(git(join(folder, "second"), "status", "--porcelain")).toBe("");
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("edited\n");
  git(root, "worktree", "remove", join(folder, "second"));
  await bench.sandbox.rollback();
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\ntwo\nthree\nfour\nfive\n");
});

test("takes a commit back beside untouched work that came later, and only that (R50)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  await bench.sandbox.commit();
  shell(
    root,
    "echo later >> b.txt; echo new > untracked; echo s > s; git add s; git status > /dev/null",
  );
  await bench.sandbox.rollback();
  expect(git(root, "status", "--porcelain")).toBe(" M b.txt\nA  s\n?? untracked");
});

test("a commit is taken back after git wrote its files anew, as when branches are switched (R49, R50)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  git(root, "branch", "aside");
  await using bench = await openGit(checkout);
  shell(await bench.sandbox.getPath(), EDITS);
  const [files, tip] = [filesOf(root), git(root, "rev-parse", "HEAD")];
  await bench.sandbox.commit({ message: "kinds" });
  shell(
    root,
    "git switch -q aside; git switch -q main; echo dirty >> a.txt; git checkout -q a.txt",
  );
  // As a git leaves it that was killed in an earlier try.
  shell(bench.directory, "for s in tx-*; do s=${s#tx-}; touch ${s%-*}.undo.index.lock; done");
  expect(shell(bench.directory, "ls *.lock | wc -l")).toBe("1\n");
  await bench.sandbox.rollback();
  expect(git(root, "rev-parse", "main")).toBe(tip);
  expect(git(root, "status", "--porcelain")).toBe("");
  expectOracleEqual(files, filesOf(root), { ignore: ["mtimes"] });
});

test.each([
  ["a further file in a new folder", "echo own > made/deep/own", "made/deep/own"],
  ["a removed file of a new folder", "rm made/deep/file", "made/deep/file"],
  ["rights that somebody gave a file", "chmod 600 a.txt", "a.txt"],
  ["rights that somebody gave a new folder", "chmod 700 made", "made"],
])("after switched branches an undo still refuses %s (R50)", async (_name, script, path) => {
  const checkout = makeCheckout();
  const { root } = checkout;
  git(root, "branch", "aside");
  await using bench = await openGit(checkout);
  shell(await bench.sandbox.getPath(), EDITS);
  await bench.sandbox.commit({ message: "kinds" });
  shell(root, `git switch -q aside; git switch -q main; git status > /dev/null`);
  // The undo takes what git wrote for its own here; what comes now is somebody's edit.
  expect(await bench.sandbox.previewUndo()).toMatchObject({ possible: true });
  shell(root, script);
  const edited = filesOf(root);
  await expect(bench.sandbox.rollback()).rejects.toMatchObject({
    data: { reason: "foreignEdits", paths: [path] },
  });
  expectOracleEqual(edited, filesOf(root));
});

test.each([
  ["the same owner given again", 'chown -R "$(id -u):$(id -g)" .'],
  ["rights given and taken back", "chmod a+x a.txt; chmod a-x a.txt"],
  ["a further name that is gone again", "ln a.txt other; rm other"],
])(
  "a commit is taken back after %s: nothing of a file is different (R49, R50)",
  async (_name, script) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    shell(await bench.sandbox.getPath(), "echo edited > a.txt; ln -sfn b.txt link; rm b.txt");
    const files = filesOf(root);
    await bench.sandbox.commit();
    shell(root, script);
    await bench.sandbox.rollback();
    expect(git(root, "status", "--porcelain")).toBe("");
    expectOracleEqual(files, filesOf(root), { ignore: ["mtimes"] });
  },
);

test.each([
  ["other rights", "chmod 600 a.txt", "a.txt"],
  ["a further name", "ln a.txt other", "a.txt"],
  ["an attribute", "setfattr -n user.note -v mine a.txt", "a.txt"],
  ["other rights of a new file", "chmod 600 new.txt", "new.txt"],
  [
    "the same size and time, and other content",
    "touch -r a.txt t; echo EDITED > a.txt; touch -r t a.txt; rm t",
    "a.txt",
  ],
])("an undo refuses %s that somebody gave a file (R50)", async (_name, script, path) => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  shell(await bench.sandbox.getPath(), "echo edited > a.txt; echo new > new.txt");
  await bench.sandbox.commit();
  shell(root, script);
  const edited = filesOf(root);
  await expect(bench.sandbox.rollback()).rejects.toMatchObject({
    data: { reason: "foreignEdits", paths: [path] },
  });
  expectOracleEqual(edited, filesOf(root));
});
