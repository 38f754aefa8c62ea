import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SandboxCommitError, SandboxCreationError } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { shell } from "../shell.ts";
import { type Checkout, EDITS, filesOf, git, knownOf, makeCheckout, openGit } from "./checkout.ts";

const BRANCH = { initialise: undefined, arrange: ":", root: "real" };

/** Repositories that are not quite ordinary, each with what makes it so. */
const ODD: Readonly<
  Record<string, { initialise?: string | undefined; arrange: string; root?: string }>
> = {
  "a detached HEAD": { ...BRANCH, arrange: "git checkout -q --detach" },
  "a branch that only names another": {
    ...BRANCH,
    arrange: "git symbolic-ref refs/heads/alias refs/heads/main; git checkout -q alias",
  },
  "packed refs": { ...BRANCH, arrange: "git pack-refs --all --prune; git gc -q" },
  "a branch with slashes, packed": {
    ...BRANCH,
    arrange:
      "git checkout -q -b team/x/topic; git pack-refs --all --prune; rm -rf .git/refs/heads/team",
  },
  "SHA-256": { ...BRANCH, initialise: "git init -q -b main --object-format=sha256 ." },
  "a linked worktree as the original": {
    ...BRANCH,
    arrange: "git worktree add -q ../linked -b linked",
    root: "linked",
  },
  "a linked worktree that was moved without git": {
    ...BRANCH,
    arrange: "git worktree add -q ../linked -b linked; mv ../linked ../moved",
    root: "moved",
  },
  "a split index": {
    ...BRANCH,
    arrange: "git config core.splitIndex true; git update-index --split-index",
  },
  "a git directory elsewhere": {
    ...BRANCH,
    initialise: "git init -q -b main --separate-git-dir ../elsewhere .",
  },
  "an index with an untracked cache": {
    ...BRANCH,
    arrange:
      "git config core.untrackedCache true; git update-index --untracked-cache; git status > /dev/null",
  },
  "no log of refs": {
    ...BRANCH,
    arrange: "git config core.logAllRefUpdates false; rm -r .git/logs",
  },
  "a shallow clone": {
    ...BRANCH,
    arrange:
      "echo 2 > two; git add two; git commit -qm 2; git clone -q --depth 1 file://$PWD ../shallow; cd ../shallow; git config user.name t; git config user.email t@t.invalid",
    root: "shallow",
  },
};

function makeOdd(name: string): Checkout {
  const { initialise, arrange, root = "real" } = ODD[name]!;
  const made = makeCheckout(initialise);
  shell(made.root, arrange);
  return { folder: made.folder, root: join(made.folder, root) };
}

test.each(Object.keys(ODD))("commits into and undoes in %s exactly (R58)", async (name) => {
  const checkout = makeOdd(name);
  const { root } = checkout;
  const tip = git(root, "rev-parse", "HEAD");
  const refs = git(root, "for-each-ref");
  const [files, index] = [filesOf(root), git(root, "ls-files", "-s")];
  {
    await using bench = await openGit(checkout);
    const worktree = await bench.sandbox.getPath();
    shell(worktree, EDITS);
    const edited = filesOf(worktree);
    const { revision } = await bench.sandbox.commit({ message: "odd" });
    expect(git(root, "rev-parse", "HEAD")).toBe(revision);
    expect(git(root, "status", "--porcelain")).toBe("");
    expect(git(root, "log", "-1", "--format=%P %s")).toBe(`${tip} odd`);
    expectOracleEqual(edited, filesOf(root), { ignore: ["mtimes"] });
    git(root, "fsck", "--strict");
    await bench.sandbox.rollback();
    expect(git(root, "rev-parse", "HEAD")).toBe(tip);
    expect(git(root, "status", "--porcelain")).toBe("");
    expect(git(root, "ls-files", "-s")).toBe(index);
    expectOracleEqual(files, filesOf(root));
  }
  expect(git(root, "for-each-ref")).toBe(refs);
  git(root, "fsck", "--strict");
});

test("line endings are converted as git does it, and an undo brings the very files back (R58)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "git config core.autocrlf true; rm a.txt b.txt; git checkout -q -- a.txt b.txt");
  const files = filesOf(root);
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "lf\nonly\n");
  await bench.sandbox.commit();
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("lf\r\nonly\r\n");
  expect(git(root, "show", "HEAD:a.txt")).toBe("lf\nonly");
  expect(git(root, "status", "--porcelain")).toBe("");
  await bench.sandbox.rollback();
  expectOracleEqual(files, filesOf(root));
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("files outside a sparse checkout stay outside, and their changes are committed all the same (R58)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "git sparse-checkout set --no-cone '/*' '!/docs/' '!/src/'");
  const files = filesOf(root);
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  expect(shell(worktree, "ls")).toBe(shell(root, "ls"));
  shell(worktree, "echo edited > a.txt; mkdir docs; echo outside > docs/page");
  const { changed } = await bench.sandbox.commit();
  expect(changed).toEqual(["a.txt", "docs/page"]);
  expect(git(root, "show", "HEAD:docs/page")).toBe("outside");
  expect(shell(root, "ls")).toBe(shell(root, "ls | grep -v docs"));
  expect(git(root, "status", "--porcelain")).toBe("");
  await bench.sandbox.rollback();
  expectOracleEqual(files, filesOf(root));
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("names with newlines, quotes, colons and bytes that are no text are kept exactly (R58)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  const names = String.raw`'line
break' 'quo"te' ':(top)x' ' lead' 'tab	x' 'tab	..' '-dash' 'back\slash' "$(printf 'caf\351')" '*' '[a]'`;
  shell(root, `for n in ${names}; do printf old > "./$n"; done; git add -A; git commit -qm odd`);
  const before = filesOf(root);
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  shell(
    worktree,
    `for n in ${names}; do printf new > "./$n"; printf more > "./more $n"; done; mkdir "$(printf 'd\\351')"; echo x > "$(printf 'd\\351/x')"`,
  );
  const { changes } = await bench.sandbox.diff();
  expect(changes).toHaveLength(23);
  expect(changes.filter(({ pathBytes }) => pathBytes !== undefined)).toHaveLength(3);
  await bench.sandbox.commit();
  expectOracleEqual(filesOf(worktree), filesOf(root), { ignore: ["mtimes"] });
  expect(git(root, "status", "--porcelain")).toBe("");
  await bench.sandbox.rollback();
  expectOracleEqual(before, filesOf(root));
});

test("a submodule stays as it is, and edits inside one are refused by name (R58)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(
    root,
    `git init -q ../lib; cd ../lib; git config user.name t; git config user.email t@t.invalid; echo l > l; git add l; git commit -qm l
     cd ../real; git -c protocol.file.allow=always submodule -q add ../lib lib; git commit -qm lib`,
  );
  const files = filesOf(root);
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  shell(worktree, "echo inside > lib/l; echo edited > a.txt");
  const attempt = bench.sandbox.commit();
  await expect(attempt).rejects.toBeInstanceOf(SandboxCommitError);
  await expect(attempt).rejects.toMatchObject({ data: { reason: "submodule", failedPath: "lib" } });
  expectOracleEqual(files, filesOf(root));
  shell(worktree, "rm lib/l");
  await bench.sandbox.commit();
  expect(git(root, "status", "--porcelain")).toBe("");
  expect(git(root, "ls-tree", "HEAD", "lib")).toBe(git(root, "ls-tree", "HEAD~", "lib"));
  expect(readFileSync(join(root, "lib/l"), "utf8")).toBe("l\n");
});

test.each([
  ["a branch without a commit", "git init -q x", "unborn"],
  ["a bare repository", "git init -q --bare x", "bare"],
  ["a folder inside a checkout", "git init -q .; mkdir x", "notRoot"],
  ["a folder that is no repository", "mkdir x", "notRepository"],
  [
    "refs in a format that git does not know",
    "git init -q x; cd x; git config core.repositoryformatversion 1; git config extensions.refStorage reftable",
    "unreadable",
  ],
  [
    "a work tree that lies elsewhere",
    "git init -q x; mkdir other; git -C x config core.worktree ../../other",
    "notRoot",
  ],
])(
  "refuses %s when a sandbox is to be made, with the reason (R58)",
  async (_name, script, stage) => {
    const folder = tempFolder();
    shell(folder, script);
    const attempt = openGit({ folder, root: join(folder, "x") });
    await expect(attempt).rejects.toBeInstanceOf(SandboxCreationError);
    await expect(attempt).rejects.toMatchObject({ data: { stage, residue: [] } });
  },
);

test("says all that git says of a format that it does not know, and what to do", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  git(root, "config", "core.repositoryformatversion", "1");
  git(root, "config", "extensions.refStorage", "reftable");
  const refusal = await openGit(checkout).catch((error: unknown) => error);
  expect(refusal).toMatchObject({
    message: expect.stringMatching(/extension found: refstorage$/) as string,
    hint: expect.stringContaining("newer git") as string,
  });
});

test("a branch that only names another stays one, and the other moves and comes back", async () => {
  const checkout = makeOdd("a branch that only names another");
  const { root } = checkout;
  const refs = "git for-each-ref --format='%(refname) %(symref)' refs/heads; cat .git/HEAD";
  const before = shell(root, refs);
  await using bench = await openGit(checkout);
  shell(await bench.sandbox.getPath(), "echo x > a.txt");
  await bench.sandbox.commit();
  expect(git(root, "log", "-1", "--format=%s %D")).toMatch(/^Changes .*main/);
  expect(git(root, "rev-parse", "main")).toBe(git(root, "rev-parse", "HEAD"));
  await bench.sandbox.undoCommit();
  expect(git(root, "log", "-1", "--format=%s", "main")).toBe("first");
  await bench.sandbox.cleanup({ force: true });
  expect(shell(root, refs)).toBe(before);
});

test("a branch with our name, or in a folder of it, is no hindrance, and stays as it is", async () => {
  for (const name of ["cofferdam", "cofferdam/mine"]) {
    const checkout = makeCheckout();
    const { root } = checkout;
    git(root, "branch", name);
    const before = knownOf(root);
    const bench = await openGit(checkout);
    await bench.sandbox.write("a.txt", "edited\n");
    await bench.sandbox.commit({ message: "ours" });
    await bench.sandbox.rollback();
    await bench[Symbol.asyncDispose]();
    expect(knownOf(root)).toBe(before);
  }
});

test("a copy of a linked worktree is refused at commit, as both have the same branch checked out", async () => {
  const { root, folder } = makeCheckout();
  shell(root, "git worktree add -q ../linked -b linked; cp -a ../linked ../copy");
  await using bench = await openGit({ folder, root: join(folder, "copy") });
  await bench.sandbox.write("a.txt", "edited\n");
  await expect(bench.sandbox.commit()).rejects.toMatchObject({
    data: { reason: "checkedOutElsewhere" },
  });
});

test("a branch whose name is not UTF-8 is refused when a sandbox is to be made (R58)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, `git checkout -q -b "$(printf 'caf\\351')"`);
  const before = knownOf(root);
  const attempt = openGit(checkout);
  await expect(attempt).rejects.toBeInstanceOf(SandboxCreationError);
  await expect(attempt).rejects.toMatchObject({ data: { stage: "oddName", residue: [] } });
  expect(knownOf(root)).toBe(before);
  // The sign for what cannot be read is a name like any other where somebody wrote it.
  git(root, "checkout", "-q", "-b", "caf\uFFFD");
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  await bench.sandbox.commit();
  expect(git(root, "show", "HEAD:a.txt")).toBe("edited");
});

test("a repository in a folder with a line break, or bytes that are no UTF-8, is refused for its name", async () => {
  const folder = tempFolder();
  const make = (name: string): string =>
    `git init -q "$(printf '${name}')"; git -C "$(printf '${name}')" -c user.name=t -c user.email=t@t.invalid commit -q --allow-empty -m first`;
  shell(folder, `${make("line\\nbreak")}; ${make("caf\\351")}`);
  shell(folder, `git -C "$(printf 'caf\\351')" worktree add -q ../linked`);
  for (const name of ["line\nbreak", "caf\uFFFD", "linked"]) {
    const attempt = openGit({ folder, root: join(folder, name) });
    await expect(attempt).rejects.toBeInstanceOf(SandboxCreationError);
    await expect(attempt).rejects.toMatchObject({ data: { stage: "oddName", residue: [] } });
  }
});

test("a packed branch moves although git left empty folders of longer names where it would be", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  const branch = git(root, "symbolic-ref", "--short", "HEAD");
  shell(
    root,
    `git pack-refs --all; git branch ${branch}/x/y 2> /dev/null || ls .git/refs/heads/${branch}/x`,
  );
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  await bench.sandbox.commit({ message: "mine" });
  expect(git(root, "log", "-1", "--format=%s", branch)).toBe("mine");
  await bench.sandbox.undoCommit();
  expect(git(root, "status", "--porcelain")).toBe("");
});
