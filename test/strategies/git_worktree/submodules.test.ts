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

const COMMIT = "-c user.name=t -c user.email=t@t.invalid commit -q --allow-empty -m x";

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

test("submodules whose files a restore or a program wrote anew with the same content are no edits (R54, R58)", async () => {
  await using bench = await openNested();
  const { sandbox, worktree } = bench;
  await sandbox.checkpoint("filled");
  await sandbox.restoreCheckpoint("filled");
  const indexes = "find $(git rev-parse --git-dir)/modules -type f";
  const kept = shell(worktree, `sha256sum $(${indexes} | sort)`);
  expect((await sandbox.diff()).changes).toMatchObject([{ path: "a.txt" }]);
  shell(worktree, "touch -d '1 hour ago' lib/l lib/deep/inner/l");
  expect((await sandbox.diff()).changes).toMatchObject([{ path: "a.txt" }]);
  expect(shell(worktree, `sha256sum $(${indexes} | sort)`)).toBe(kept);
  await sandbox.commit();
  expect(shell(bench.root, "cat a.txt; git status --porcelain")).toBe("edited\n");
});

test.each([
  ["an edit", "echo edit >> lib/l"],
  ["an edit of the same size and time", "touch -r lib/l ../t; echo m > lib/l; touch -r ../t lib/l"],
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

test.each([
  ["an edit", "echo edit >> lib/l", "lib", "modified"],
  ["an edit and another commit", `git -C lib ${COMMIT}; echo edit >> lib/l`, "lib", "modified"],
  ["a new file", "echo new > lib/new", "lib", "modified"],
  ["an edit in the one inside", "echo edit >> lib/deep/inner/l", "lib", "modified"],
  ["a repository in its place", "rm -rf lib; git init -q lib", "lib", "modified"],
  ["what git has been told to forget", "git rm -q --cached lib; echo e >> lib/l", "lib", "deleted"],
  ["a repository nobody has told git of", "git init -q new; echo n > new/n", "new", "added"],
  ["one with a commit", `git init -q new; git -C new ${COMMIT}`, "new", "added"],
] as const)(
  "%s inside another repository is told in the diff, refused at commit, and never dropped (R46, R58)",
  async (_what, script, path, kind) => {
    await using bench = await openNested();
    const { sandbox, worktree, root } = bench;
    shell(worktree, `${script}; echo second > b.txt`);
    const inside = (): string =>
      shell(worktree, `find ${path} -type f ! -name index -exec sha256sum {} + | sort`);
    const before = inside();
    const view = await sandbox.diff();
    const refused = expect.stringContaining("a commit refuses it") as string;
    const change = view.changes.find((one) => one.path === path);
    expect(change).toMatchObject({ kind, notes: expect.arrayContaining([refused]) as string[] });
    expect((await sandbox.diff()).digest).toBe(view.digest);
    await view.text();
    for (const options of [{}, { expect: view.digest }]) {
      await expect(sandbox.commit(options)).rejects.toMatchObject({
        data: { reason: "submodule", failedPath: path },
      });
    }
    await sandbox.drop(["b.txt"]);
    expect((await sandbox.diff()).changes.map((one) => one.path)).toEqual(["a.txt", path]);
    const attempt = sandbox.drop([path, "a.txt"]);
    await expect(attempt).rejects.toMatchObject({ code: "SANDBOX_PATH", data: { path } });
    expect(inside()).toBe(before);
    expect(shell(worktree, "cat a.txt")).toBe("edited\n");
    expect(git(root, "status", "--porcelain")).toBe("");
  },
);

test("edits inside a submodule that are taken back with git leave the plan free to be committed (R58)", async () => {
  await using bench = await openNested();
  const { sandbox, worktree, root } = bench;
  const clean = await sandbox.diff();
  shell(worktree, "echo edit >> lib/l");
  expect((await sandbox.diff()).digest).not.toBe(clean.digest);
  shell(worktree, "git -C lib checkout -q l");
  await sandbox.commit({ expect: clean.digest });
  expect(shell(root, "cat a.txt; git status --porcelain")).toBe("edited\n");
});

const PUT = "git update-index --add --replace --cacheinfo 160000,$(git rev-parse HEAD)";

test.each([
  ["that is removed", "git rm -qf lib", "lib", "deleted"],
  ["that a commit in the worktree removes", `git rm -qf lib; git ${COMMIT}`, "lib", "deleted"],
  ["at another commit", `git -C lib ${COMMIT}; git add lib`, "lib", "modified"],
  ["at another commit, without git add", `git -C lib ${COMMIT}`, "lib", "modified"],
  ["at an earlier commit", "git -C lib checkout -q HEAD~1; rm -rf lib/deep", "lib", "modified"],
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
    const filled = shell(worktree, `[ ! -e ${path}/.git ] || git -C ${path} rev-parse HEAD`);
    const commits = [entry, staged, filled && `160000 ${filled}`].flatMap(
      (line) => /^160000 (\w+)/.exec(line)?.[1] ?? [],
    );
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

const MOVED = `git -C lib ${COMMIT}`;
const ADD = `git -c protocol.file.allow=always submodule -q add "$(git config submodule.lib.url)"`;
/** Both sides move the submodule on, each to a commit of its own. */
const CLASH = `git checkout -q -b top; ${MOVED}; git commit -qm top lib; git checkout -q -
  git -C lib checkout -q HEAD~1; git -C lib ${COMMIT}y; git commit -qm ours lib; git merge top > ../said || true`;

test.each([
  ["in it", MOVED, "lib/x.o"],
  ["in one inside", MOVED, "lib/deep/inner/y.o"],
  ["in one that git add moved on", `${MOVED}; git add lib`, "lib/x.o"],
  ["in one that was moved on and committed", `${MOVED}; git commit -qm moved lib`, "lib/x.o"],
  ["in a new one", `${ADD} new`, "new/x.o"],
  ["in one that has the place of a file", `git rm -q tool; ${ADD} tool`, "tool/x.o"],
  ["in one that is in conflict", CLASH, "lib/x.o"],
])(
  "ignored files in a submodule that is taken back do not go with it: %s (R58)",
  async (_where, script, file) => {
    await using bench = await openNested();
    const { sandbox, worktree } = bench;
    shell(worktree, `${script}; echo secret > ${file}`);
    const path = file.slice(0, file.indexOf("/"));
    const attempt = sandbox.drop([path, "a.txt"]);
    await expect(attempt).rejects.toMatchObject({ data: { path, reason: "notEmpty" } });
    await expect(attempt).rejects.toThrow(file);
    expect(shell(worktree, `cat a.txt ${file}`)).toBe("edited\nsecret\n");
    shell(worktree, `rm ${file}`);
    await sandbox.drop([""]);
    expect((await sandbox.diff()).changes).toEqual([]);
    expect(shell(worktree, `[ ! -d ${path} ] || ls -A ${path}`)).toBe("");
  },
);

test.each([
  ["in one that is in conflict", `${CLASH}; echo precious >> lib/l`],
  ["in one inside one that is in conflict", `${CLASH}; echo precious >> lib/deep/inner/l`],
  [
    "that git was told not to see",
    `${MOVED}; git add lib; git -C lib update-index --assume-unchanged l; echo precious >> lib/l`,
  ],
  [
    "that git was told to skip",
    `${MOVED}; git add lib; git -C lib update-index --skip-worktree l; echo precious >> lib/l`,
  ],
])(
  "edits inside a submodule that is taken back do not go with it: %s (R58)",
  async (_where, script) => {
    await using bench = await openNested();
    const { sandbox, worktree } = bench;
    shell(worktree, script);
    const attempt = sandbox.drop(["lib", "a.txt"]);
    await expect(attempt).rejects.toMatchObject({ data: { path: "lib", reason: "notEmpty" } });
    expect(shell(worktree, "cat a.txt; grep -rh precious lib")).toBe("edited\nprecious\n");
  },
);

const isModules = ({ path }: { readonly path: string }): boolean => path === ".gitmodules";
