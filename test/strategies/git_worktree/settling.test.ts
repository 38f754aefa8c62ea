import { expect, test } from "vitest";
import { type Sandbox, SandboxConflictError, SandboxPathError } from "../../../src/index.ts";
import { shell } from "../shell.ts";
import { EDITS, filesOf, git, gitState, makeCheckout, openGit } from "./checkout.ts";
import { expectOracleEqual } from "../../support/oracle.ts";

const OURS = "printf 'OURS\\ntwo\\nthree\\nfour\\nfive\\n' > a.txt";
const THEIRS = "printf 'THEIRS\\ntwo\\nthree\\nfour\\nfive\\n' > a.txt; git commit -qam theirs";

async function pathsOf(sandbox: Sandbox): Promise<string[]> {
  return (await sandbox.diff()).changes.map(({ path }) => path);
}

test("takes every kind of edit back, one by one and all at once", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(worktree, EDITS);
  await sandbox.drop(["a.txt", "made"]);
  expect(await pathsOf(sandbox)).toEqual(
    expect.arrayContaining(["b.txt", "docs", "docs/page", "link", "new-name", "old-name"]),
  );
  expect(await pathsOf(sandbox)).not.toContain("made/deep/file");
  await expect(sandbox.drop(["docs/page"])).rejects.toMatchObject({
    code: "SANDBOX_PATH",
    data: { path: "docs", reason: "notDirectory" },
  });
  await sandbox.drop([""]);
  expect(await pathsOf(sandbox)).toEqual([]);
  expectOracleEqual(filesOf(checkout.root), filesOf(worktree), { ignore: ["mtimes"] });
  expect(git(worktree, "status", "--porcelain")).toBe("");
});

test("takes back what the worktree's own commits and its index have", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(
    await sandbox.getPath(),
    `${OURS}; git commit -qam mine; printf 'new\\n' > new.txt; git add new.txt; printf 'B\\n' > b.txt`,
  );
  await sandbox.drop(["a.txt", "new.txt"]);
  expect(await pathsOf(sandbox)).toEqual(["b.txt"]);
  await sandbox.commit();
  expect(git(checkout.root, "diff", "--name-only", "HEAD~2", "HEAD")).toBe("b.txt");
});

test.each([
  ["a tracked file that is ignored and was removed", "git rm -q kept.log", "kept.log"],
  [
    "a mode that only the index has",
    "git config core.fileMode false; git update-index --chmod=+x b.txt",
    "b.txt",
  ],
  [
    "a file that is said to be unchanged",
    "printf 'B\\n' > b.txt; git add b.txt; git update-index --assume-unchanged b.txt",
    "b.txt",
  ],
  [
    "a file that is said to be elsewhere",
    "printf 'B\\n' > b.txt; git add b.txt; git update-index --skip-worktree b.txt",
    "b.txt",
  ],
  ["a file of a split index", "git update-index --split-index; git rm -q b.txt", "b.txt"],
])("takes back an edit that only the index tells: %s", async (_, script, path) => {
  const checkout = makeCheckout();
  shell(
    checkout.root,
    "printf 'log\\n' > kept.log; echo '*.log' > .gitignore; git add -f kept.log .gitignore; git commit -qm log",
  );
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(worktree, script);
  expect(await pathsOf(sandbox)).toEqual([path]);
  await sandbox.drop([path]);
  expect(await pathsOf(sandbox)).toEqual([]);
  expect(git(worktree, "diff", "--cached", "--name-only")).toBe("");
  expectOracleEqual(filesOf(checkout.root), filesOf(worktree), { ignore: ["mtimes"] });
});

test("keeps every edit when one of those to take back is in the way of another", async () => {
  await using bench = await openGit(makeCheckout());
  const { sandbox } = bench;
  shell(await sandbox.getPath(), "printf 'new\\n' > new.txt; rm -r docs; printf 'd\\n' > docs");
  const before = await pathsOf(sandbox);
  await expect(sandbox.drop(["new.txt", "docs/page"])).rejects.toMatchObject({
    code: "SANDBOX_PATH",
    data: { path: "docs", reason: "notDirectory" },
  });
  expect(await pathsOf(sandbox)).toEqual(before);
});

test.each([
  ["drop", (sandbox: Sandbox) => sandbox.drop(["src"])],
  ["drop of all", (sandbox: Sandbox) => sandbox.drop([""])],
  ["drop of what was below", (sandbox: Sandbox) => sandbox.drop(["src", "src/deep/leaf"])],
  ["theirs", (sandbox: Sandbox) => sandbox.resolve(["src"], "theirs")],
] as const)(
  "takes back the link in place of a folder, and what it leads to stays: %s (R53)",
  async (how, takeBack) => {
    const checkout = makeCheckout();
    const { root, folder } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(folder, "mkdir -p elsewhere/deep; echo kept | tee elsewhere/gone > elsewhere/deep/leaf");
    shell(worktree, `rm -r src; ln -s ${folder}/elsewhere src`);
    if (how === "theirs") shell(root, "echo theirs > src/gone; git commit -qam theirs");
    await takeBack(sandbox);
    expect(await pathsOf(sandbox)).toEqual([]);
    expect(shell(worktree, "cat src/gone src/deep/leaf")).toBe("gone\ndeep\n");
    expect(shell(folder, "cat elsewhere/gone elsewhere/deep/leaf")).toBe("kept\nkept\n");
  },
);

test("empties no place that a link in the folder above a submodule leads to", async () => {
  const checkout = makeCheckout();
  shell(
    checkout.root,
    "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub/lib; mkdir -p sub/lib; git commit -qm lib",
  );
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(checkout.folder, "mkdir -p elsewhere/lib; echo kept > elsewhere/lib/file");
  shell(worktree, `git rm -q sub/lib; ln -s ${checkout.folder}/elsewhere sub`);
  await sandbox.drop([""]);
  expect(await pathsOf(sandbox)).toEqual([]);
  expect(shell(worktree, "ls -Ad sub/lib; ls -A sub/lib")).toBe("sub/lib\n");
  expect(shell(checkout.folder, "cat elsewhere/lib/file")).toBe("kept\n");
});

test("names ignored files that would go with the folder in place of a file, and takes nothing back then", async () => {
  await using bench = await openGit(makeCheckout());
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(worktree, "rm a.txt; mkdir -p a.txt/e; echo q > a.txt/q; echo precious > a.txt/e/i.tmp");
  const attempt = sandbox.drop(["a.txt"]);
  await expect(attempt).rejects.toMatchObject({
    code: "SANDBOX_PATH",
    data: { path: "a.txt", reason: "notEmpty" },
    message: expect.stringContaining("a.txt/e/i.tmp") as string,
  });
  expect(shell(worktree, "cat a.txt/q a.txt/e/i.tmp")).toBe("q\nprecious\n");
  shell(worktree, "rm a.txt/e/i.tmp");
  await sandbox.drop(["a.txt"]);
  expect((await sandbox.diff()).isEmpty).toBe(true);
  expect(shell(worktree, "head -n1 a.txt")).toBe("one\n");
});

test("publishes its own side of a conflict with the branch once it is told to (R53)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), `${OURS}; printf 'B\\n' > b.txt`);
  shell(root, `printf 'text two\\n' > docs/page; ${THEIRS}`);
  await expect(sandbox.commit()).rejects.toBeInstanceOf(SandboxConflictError);
  await expect(sandbox.resolve(["a.txt"], "merge")).rejects.toBeInstanceOf(SandboxConflictError);
  await sandbox.resolve(["a.txt"], "mine");
  await sandbox.commit({ message: "mine" });
  expect(shell(root, "head -1 a.txt; cat b.txt docs/page")).toBe("OURS\nB\ntext two\n");
  expect(git(root, "status", "--porcelain")).toBe("");
  expect(git(root, "log", "-1", "--format=%s %P").split(" ")).toHaveLength(3);
  git(root, "fsck", "--strict");
  await sandbox.rollback();
  expect(shell(root, "head -1 a.txt")).toBe("THEIRS\n");
});

test("leaves the branch's side of a conflict once it is told to (R53)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), `${OURS}; printf 'B\\n' > b.txt`);
  shell(root, THEIRS);
  await sandbox.resolve(["a.txt"], "theirs");
  await sandbox.commit();
  expect(shell(root, "head -1 a.txt; cat b.txt")).toBe("THEIRS\nB\n");
});

test("settles a removal on either side", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), `${OURS}; git rm -q docs/page`);
  shell(root, "git rm -q a.txt; printf 'theirs\\n' > docs/page; git commit -qam theirs");
  await expect(sandbox.commit()).rejects.toBeInstanceOf(SandboxConflictError);
  await sandbox.resolve([""], "mine");
  await sandbox.commit();
  expect(shell(root, "head -1 a.txt; ls docs 2> /dev/null || echo none")).toBe("OURS\nnone\n");
});

test("is in conflict again with what the branch gets later, and after a return to an earlier state", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), OURS);
  await sandbox.checkpoint("before");
  shell(root, THEIRS);
  await sandbox.resolve(["a.txt"], "mine");
  await sandbox.restoreCheckpoint("before");
  await expect(sandbox.commit()).rejects.toBeInstanceOf(SandboxConflictError);
  await sandbox.resolve(["a.txt"], "mine");
  shell(root, "printf 'LATER\\n' > a.txt; git commit -qam later");
  const before = gitState(root);
  await expect(sandbox.commit()).rejects.toBeInstanceOf(SandboxConflictError);
  expect(gitState(root)).toBe(before);
});

test("never settles over an edit in the checkout that nobody has committed", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), OURS);
  shell(root, "printf 'dirty\\n' > a.txt");
  await expect(sandbox.resolve(["a.txt"], "mine")).rejects.toMatchObject({
    code: "SANDBOX_CONFLICT",
    data: { reason: "checkout", conflicts: [{ path: "a.txt" }] },
  });
  await expect(sandbox.commit()).rejects.toBeInstanceOf(SandboxConflictError);
  expect(shell(root, "cat a.txt")).toBe("dirty\n");
});

test("refuses what has no edit", async () => {
  await using bench = await openGit(makeCheckout());
  const { sandbox } = bench;
  for (const call of [sandbox.drop(["a.txt"]), sandbox.resolve(["a.txt"], "mine")])
    await expect(call).rejects.toBeInstanceOf(SandboxPathError);
});

/** Each side of a file and a folder that want the same place. */
const FOLDER = "rm tool; mkdir tool; echo inside > tool/part";
const FILE = "echo more >> tool";

test.each([
  ["mine", "the branch has the folder", FILE, FOLDER, "#!/bin/sh\nmore\n"],
  ["theirs", "the branch has the folder", FILE, FOLDER, "inside\n"],
  ["mine", "the sandbox has the folder", FOLDER, FILE, "inside\n"],
  ["theirs", "the sandbox has the folder", FOLDER, FILE, "#!/bin/sh\nmore\n"],
] as const)(
  "settles a file against a folder for %s, when %s (R53)",
  async (how, _which, ours, theirs, content) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    shell(await sandbox.getPath(), `${ours}; echo new > new.txt`);
    shell(root, `${theirs}; git add -A; git commit -qm theirs`);
    await expect(sandbox.commit()).rejects.toMatchObject({
      data: { reason: "merge", conflicts: [{ path: "tool" }] },
    });
    await sandbox.resolve(["tool"], how);
    await sandbox.commit();
    expect(shell(root, "cat tool 2> /dev/null || cat tool/*")).toBe(content);
    expect(git(root, "status", "--porcelain")).toBe("");
  },
);

test("a file keeps its folder when the other side renames that: a commit publishes the paths of the diff", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "for n in 1 2 3; do echo file $n > docs/$n; done; git add -A; git commit -qm more");
  shell(root, "git config merge.directoryRenames true");
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  shell(worktree, "git mv docs pages; mkdir src/deep/er; echo mine > src/deep/er/new");
  shell(root, "echo theirs > docs/new; git mv src/deep source; git add -A; git commit -qm theirs");
  await bench.sandbox.commit();
  expect(shell(root, "cat docs/new src/deep/er/new; ls pages source")).toBe(
    "theirs\nmine\npages:\n1\n2\n3\npage\n\nsource:\nleaf\n",
  );
  expect(git(root, "status", "--porcelain")).toBe("");
});
