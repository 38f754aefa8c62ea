import { expect, test } from "vitest";
import { SandboxCommitError } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { filesOf, git, makeCheckout, openGit } from "./checkout.ts";

test("a folder that became a link is committed and taken back, also when git ignores the link (R46, R49)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  const files = filesOf(root);
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  shell(worktree, "rm -r src docs; ln -s b.txt src; ln -s a.txt docs; echo /docs >> .gitignore");
  const { changes } = await bench.sandbox.diff();
  expect(changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    "modified .gitignore",
    "deleted docs/page",
    "added src",
    "deleted src/deep/leaf",
    "deleted src/gone",
  ]);
  await bench.sandbox.commit();
  expect(git(root, "diff", "--name-status", "--no-renames", "HEAD~", "HEAD")).toBe(
    "M\t.gitignore\nD\tdocs/page\nA\tsrc\nD\tsrc/deep/leaf\nD\tsrc/gone",
  );
  expect(shell(root, "readlink src; ls -d docs 2> /dev/null || true")).toBe("b.txt\n");
  expect(git(root, "status", "--porcelain")).toBe("");
  await bench.sandbox.rollback();
  expectOracleEqual(files, filesOf(root));
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("files of names that git passes over are refused by name, and never left out in silence", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  shell(
    worktree,
    "mkdir .GIT made; echo x > .GIT/config; echo x > made/git~1; echo new > .gitkeep",
  );
  const attempt = bench.sandbox.commit();
  await expect(attempt).rejects.toBeInstanceOf(SandboxCommitError);
  await expect(attempt).rejects.toMatchObject({
    data: { reason: "name", paths: [".GIT/config", "made/git~1"] },
  });
  await expect(bench.sandbox.diff()).rejects.toMatchObject({ data: { reason: "name" } });
  shell(worktree, "rm -r .GIT; mv made/git~1 made/git-1");
  const { added } = await bench.sandbox.commit();
  expect(added).toEqual([".gitkeep", "made/git-1"]);
});

test("a link that the repository has as a file is shown with what it leads to", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "git config core.symlinks false; rm link; git checkout -q link");
  const files = filesOf(root);
  await using bench = await openGit(checkout);
  await bench.sandbox.write("link", "b.txt");
  const { changes } = await bench.sandbox.diff();
  expect(changes).toMatchObject([
    {
      kind: "linkChanged",
      before: { size: 0, hash: null, target: "a.txt" },
      after: { size: 0, hash: null, target: "b.txt" },
    },
  ]);
  await bench.sandbox.commit();
  expect(git(root, "ls-tree", "HEAD", "link")).toMatch(/^120000 /);
  expect(git(root, "show", "HEAD:link")).toBe("b.txt");
  expect(git(root, "status", "--porcelain")).toBe("");
  await bench.sandbox.rollback();
  expectOracleEqual(files, filesOf(root));
});

test("what git wrote into a split index of the worktree is seen, committed, kept and brought back", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "git config core.splitIndex true; git config splitIndex.sharedIndexExpire now");
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(worktree, "echo staged > staged; git add staged; echo more >> b.txt");
  expect(shell(worktree, "ls $(git rev-parse --git-dir)")).toContain("sharedindex.");
  const paths = async (): Promise<string[]> =>
    (await sandbox.diff()).changes.map(({ path }) => path);
  expect(await paths()).toEqual(["b.txt", "staged"]);
  const status = git(worktree, "status", "--porcelain");
  await sandbox.checkpoint("split");
  shell(worktree, "git add -A; git update-index --no-split-index; git update-index --split-index");
  shell(worktree, "rm staged $(git rev-parse --git-dir)/sharedindex.*; git read-tree HEAD");
  await sandbox.restoreCheckpoint("split");
  expect(git(worktree, "status", "--porcelain")).toBe(status);
  expect(await paths()).toEqual(["b.txt", "staged"]);
  await sandbox.commit();
  expect(git(root, "show", "--format=", "--name-only", "HEAD")).toBe("b.txt\nstaged");
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("what is written into a repository that many share can be read and continued by the others", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "git config core.sharedRepository group; chmod -R g+w .git; git pack-refs --all");
  await using bench = await openGit(checkout);
  await bench.sandbox.write("made/new.txt", "new\n");
  shell(root, "touch ../before");
  await bench.sandbox.checkpoint("kept");
  await bench.sandbox.commit();
  const made = "find .git -newer ../before ! -type l";
  expect(shell(root, `${made} ! -perm -g=r`)).toBe("");
  expect(shell(root, `${made} -path '*/objects/*' -type d ! -perm -g=w`)).toBe("");
  expect(shell(root, "stat -c %A .git/refs/heads/main .git/index")).toBe(
    "-rw-rw-r--\n-rw-rw-r--\n",
  );
});

test("a file that only git stores in another form is a change with a note, and the same on both sides", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "printf 'p\\r\\nq\\r\\n' > w.txt; git add w.txt; git commit -qm w");
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(
    await sandbox.getPath(),
    "echo 'w.txt text eol=crlf' > .gitattributes; git add --renormalize .",
  );
  const { changes } = await sandbox.diff();
  expect(changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    "added .gitattributes",
    "modified w.txt",
  ]);
  const [, stored] = changes;
  expect(stored?.notes).toHaveLength(1);
  expect(stored?.before?.hash).toBe(stored?.after?.hash);
  await sandbox.commit();
  expect(git(root, "diff", "--name-only", "HEAD~", "HEAD")).toBe(".gitattributes\nw.txt");
  expect(git(root, "status", "--porcelain")).toBe("");
});
