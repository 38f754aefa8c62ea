import { expect, test } from "vitest";
import { SandboxCommitError } from "../../../src/index.ts";
import { shell } from "../shell.ts";
import type { Bench } from "../subjects.ts";
import { git, makeCheckout, openGit } from "./checkout.ts";

interface Nested extends Bench {
  readonly root: string;
  /** The commit that the sandbox was made from. */
  readonly base: string;
  readonly worktree: string;
}

/** A sandbox of a repository with a submodule that has one itself, both checked out in the worktree. */
async function openNested(): Promise<Nested> {
  const checkout = makeCheckout();
  const { root } = checkout;
  const allow = "-c protocol.file.allow=always -c user.name=t -c user.email=t@t.invalid";
  shell(
    root,
    `for name in inner lib; do git init -q ../$name; echo l > ../$name/l; echo '*.o' > ../$name/.gitignore
       git -C ../$name add -A; git -C ../$name ${allow} commit -qm $name; done
     git -C ../lib ${allow} submodule -q add ../inner deep/inner; git -C ../lib ${allow} commit -qm nested
     git ${allow} submodule -q add ../lib lib; git commit -qm lib`,
  );
  const bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  shell(worktree, `git ${allow} submodule -q update --init --recursive; echo edited > a.txt`);
  return Object.assign(bench, { root, base: git(root, "rev-parse", "HEAD"), worktree });
}

test("submodules that a program checked out in the worktree do not stand in the way (R58)", async () => {
  await using bench = await openNested();
  const { root, worktree } = bench;
  shell(worktree, "echo built > lib/x.o; echo built > lib/deep/inner/y.o");
  expect((await bench.sandbox.diff()).changes).toMatchObject([{ path: "a.txt" }]);
  expect(shell(bench.directory, "ls | grep -c index || true")).toBe("0\n");
  await bench.sandbox.commit();
  expect(shell(root, "cat a.txt lib/l; git status --porcelain")).toBe("edited\nl\n");
});

test("submodules that a running or killed command filled, for which all lies elsewhere, are no hindrance", async () => {
  await using bench = await openNested();
  const { worktree } = bench;
  const seen = `"$modules/lib/modules/deep/inner/config" "$modules/lib/config"`;
  shell(
    worktree,
    `modules=$(git rev-parse --git-dir)/modules; for config in ${seen}; do
       git config -f "$config" core.worktree ../../../../../../gone/of-the-view; done
     sed -i 's|^gitdir: .*/worktrees/|gitdir: ../../gone/git-0/worktrees/|' lib/.git lib/deep/inner/.git`,
  );
  expect((await bench.sandbox.diff()).changes).toMatchObject([{ path: "a.txt" }]);
  shell(worktree, "echo edit >> lib/deep/inner/l");
  await expect(bench.sandbox.commit()).rejects.toMatchObject({ data: { reason: "submodule" } });
});

test.each([
  ["an edit", "echo edit >> lib/l"],
  ["a staged edit", "echo edit >> lib/l; git -C lib add l; echo l > lib/l"],
  ["a new file", "echo new > lib/new"],
  [
    "another commit",
    "git -C lib -c user.name=t -c user.email=t@t.invalid commit -q --allow-empty -m more",
  ],
  ["an edit in the one inside", "echo edit >> lib/deep/inner/l"],
  ["a repository of its own", "rm -rf lib; git init -q lib"],
  ["a link to one", "mv lib ../moved; ln -s ../moved lib"],
])("%s inside a submodule is refused by its name (R58)", async (_name, script) => {
  await using bench = await openNested();
  shell(bench.worktree, script);
  const attempt = bench.sandbox.commit();
  await expect(attempt).rejects.toBeInstanceOf(SandboxCommitError);
  await expect(attempt).rejects.toMatchObject({ data: { reason: "submodule", failedPath: "lib" } });
  expect(shell(bench.root, "git status --porcelain")).toBe("");
});

const COMMIT = "-c user.name=t -c user.email=t@t.invalid commit -q --allow-empty -m x";
const PUT = "git update-index --add --replace --cacheinfo 160000,$(git rev-parse HEAD)";

test.each([
  ["that is removed", "git rm -qf lib", "lib", "deleted"],
  ["that a commit in the worktree removes", `git rm -qf lib; git ${COMMIT}`, "lib", "deleted"],
  ["at another commit", `git -C lib ${COMMIT}; git add lib`, "lib", "modified"],
  ["with a file in its place", "git rm -qf lib; echo file > lib", "lib", "typeChanged"],
  ["with a folder in its place", "git rm -qf lib; mkdir lib; echo f > lib/f", "lib", "deleted"],
  ["that is new", `mkdir new; ${PUT},new`, "new", "added"],
  ["in place of a file", `rm tool; mkdir tool; ${PUT},tool`, "tool", "typeChanged"],
] as const)(
  "a submodule %s is told with its commits, refused at commit, and taken back by drop (R58)",
  async (_what, script, path, kind) => {
    await using bench = await openNested();
    const { sandbox, root, worktree } = bench;
    const entry = git(root, "ls-tree", "--format=%(objectmode) %(objectname)", "HEAD", path);
    shell(worktree, script);
    const staged = git(worktree, "ls-files", "-s", path);
    const commits = [entry, staged].flatMap((line) => /^160000 (\w+)/.exec(line)?.[1] ?? []);
    const { changes } = await sandbox.diff();
    const change = changes.find((one) => one.path === path);
    expect(change).toMatchObject({ kind, notes: [expect.any(String)] });
    expect([change?.before?.hash, change?.after?.hash]).toEqual(expect.arrayContaining(commits));
    await expect(sandbox.commit()).rejects.toMatchObject({
      code: "SANDBOX_COMMIT",
      data: { reason: "submodule", failedPath: path },
    });
    await sandbox.drop([path, ...(changes.some(isModules) ? [".gitmodules"] : [])]);
    expect((await sandbox.diff()).changes).toMatchObject([{ path: "a.txt" }]);
    expect(git(worktree, "ls-files", "-s", path).startsWith(entry)).toBe(true);
    expect(shell(worktree, `[ ! -d ${path} ] || ls -A ${path}`)).toBe("");
    await sandbox.commit();
    expect(git(root, "diff", "--name-only", bench.base, "HEAD")).toBe("a.txt");
    expect(git(root, "status", "--porcelain")).toBe("");
  },
);

const isModules = ({ path }: { readonly path: string }): boolean => path === ".gitmodules";
