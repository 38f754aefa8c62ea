import { expect, test } from "vitest";
import { SandboxConflictError } from "../../../src/index.ts";
import { shell } from "../shell.ts";
import { type Checkout, git, gitState, makeCheckout, openGit } from "./checkout.ts";
import { useHome } from "./home.ts";

/** A repository in which text, a file of bytes, and files that one side removes or renames can be in conflict. */
function makeMergeable(): Checkout {
  const checkout = makeCheckout();
  useHome(
    checkout.folder,
    "git config --global filter.turn.clean rev; git config --global filter.turn.smudge rev",
  );
  shell(
    checkout.root,
    `printf '\\0b' > bin; echo union > note; echo wide > wide; seq 20 > list; echo lock > lock
     echo x | iconv -t UTF-16LE > coded; echo plain > turned
     printf '%s\\n' 'note -merge' 'lock -merge' 'wide conflict-marker-size=20' > .gitattributes
     printf '%s\\n' 'coded working-tree-encoding=UTF-16LE' 'turned filter=turn' >> .gitattributes
     git add -A; git commit -qm mergeable`,
  );
  return checkout;
}

/** Makes both sides in the worktree, and tries to bring the second to the first. */
const clash = (theirs: string, ours: string, how = "git merge -q top"): string =>
  `git checkout -q -b top; ${theirs}; git add -A; git commit -qm top; git checkout -q -
   ${ours}; git add -A; git commit -qm ours; ${how} > ../said 2>&1 || true`;

const BYTES = clash("printf '\\0t' > bin", "printf '\\0m' > bin");

test.each([
  ["UU", "a file of bytes", BYTES, "bin"],
  ["UU", "a file whose attributes forbid merging", clash("echo t > note", "echo m > note"), "note"],
  [
    "UU",
    "attributes that the merge changes",
    clash("sed -i /lock/d .gitattributes; echo t > lock", "echo m > lock"),
    "lock",
  ],
  [
    "UU",
    "an encoding, in which the marks are as well",
    clash("echo t | iconv -t UTF-16LE > coded", "echo m | iconv -t UTF-16LE > coded"),
    "coded",
  ],
  [
    "UU",
    "a filter, which turns the marks as well",
    clash("echo one > turned", "echo two > turned"),
    "turned",
  ],
  ["UU", "long marks", clash("echo t > wide", "echo m > wide"), "wide"],
  ["UD", "a file that they deleted", clash("git rm -q list", "echo m >> list"), "list"],
  ["DU", "a file that we deleted", clash("echo t >> list", "git rm -q list"), "list"],
  ["UA", "a file of two new names", clash("git mv list t", "git mv list m"), "list"],
  ["AA", "two modes", clash("echo n > n; chmod 755 n", "echo n > n"), "n"],
  [
    "UU",
    "a cherry-pick",
    clash("printf '\\0t' > bin", "printf '\\0m' > bin", "git cherry-pick top"),
    "bin",
  ],
  [
    "UU",
    "a stash",
    "printf '\\0t' > bin; git stash -q; printf '\\0m' > bin; git commit -qam ours; git stash pop -q || true",
    "bin",
  ],
])(
  "a conflict (%s) without marks to remove is refused until git is told that it is resolved: %s (R51)",
  async (state, _name, script, path) => {
    const checkout = makeMergeable();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(worktree, script);
    expect(shell(worktree, "git status --porcelain")).toContain(`${state} `);
    const before = gitState(root);
    const attempt = sandbox.commit();
    await expect(attempt).rejects.toBeInstanceOf(SandboxConflictError);
    await expect(attempt).rejects.toMatchObject({
      data: { reason: "unresolved", failedPath: path },
      message: expect.not.stringContaining("merge") as string,
    });
    expect(gitState(root)).toBe(before);
    const told = (await sandbox.diff()).changes.filter(({ notes = [] }) =>
      notes.some((note) => note.includes("not resolved")),
    );
    expect(told.length).toBeGreaterThan(0);
    shell(worktree, "echo mine > settled; git add -A");
    const reviewed = await sandbox.diff();
    expect(reviewed.changes.some(({ notes = [] }) => notes.length > 0)).toBe(false);
    const staged = git(worktree, "write-tree");
    await sandbox.commit({ expect: reviewed.digest });
    expect(git(root, "rev-parse", "HEAD^{tree}")).toBe(staged);
    expect(git(root, "status", "--porcelain")).toBe("");
  },
);

test.each([
  ["the end", "/^>>>>>>> /d"],
  ["the beginning", "/^<<<<<<< /d"],
  ["all but the ancestor", "/^[<>]/d"],
])(
  "a conflict of which only some marks are removed is not resolved: %s (R51)",
  async (_name, script) => {
    const checkout = makeMergeable();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(
      worktree,
      `git config merge.conflictStyle diff3; ${clash("echo t >> list", "echo m >> list")}`,
    );
    shell(worktree, `sed -i '${script}' list`);
    const before = gitState(root);
    await expect(sandbox.commit()).rejects.toMatchObject({ data: { reason: "unresolved" } });
    expect(gitState(root)).toBe(before);
    // Attributes that are only written anew are the same ones.
    shell(worktree, "cp .gitattributes same; mv same .gitattributes; sed -i '/^[<|=>]/d' list");
    await sandbox.commit();
    expect(git(root, "show", "HEAD:list")).toBe(shell(worktree, "cat list").trim());
  },
);

test.each([
  ["7.5", 7],
  ["0x10", 7],
  ["1e1", 1],
  ["+9", 9],
  ["12abc", 12],
  ["-3", 7],
  ["word", 7],
  ["4294967300", 4],
  ["-4294967290", 6],
  ["2147483648", 7],
  ["99999999999999999999", 7],
] as const)(
  "marks are as long as git makes them for conflict-marker-size=%s, and refused: %i (R51)",
  async (size, length) => {
    const checkout = makeMergeable();
    const { root } = checkout;
    shell(root, `echo 'list conflict-marker-size=${size}' > .gitattributes; git commit -qam size`);
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(worktree, clash("echo t >> list", "echo m >> list"));
    expect(shell(worktree, "grep -o '^<*' list")).toBe(`${"<".repeat(length)}\n`);
    await expect(sandbox.commit()).rejects.toMatchObject({ data: { reason: "unresolved" } });
    shell(worktree, "sed -i '/^[<=>]/d' list");
    await sandbox.commit();
    expect(git(root, "show", "HEAD:list")).toBe(shell(worktree, "cat list").trim());
  },
);

const VANISHED = [
  [
    "a file that they renamed and we deleted",
    clash("git mv list t", "git rm -q list"),
    "t",
    "rm t; mkdir t; echo > t/kept.tmp",
  ],
  [
    "a file of theirs in the place of our folder",
    clash("echo t > n", "mkdir n; echo m > n/m", "git merge -q -s recursive top"),
    "n",
    "rm -f n~*; echo > n/kept.tmp",
  ],
] as const;

test.each(VANISHED)(
  "an unresolved conflict that only git's index still tells is shown, and can be dropped: %s (R53)",
  async (_name, script, path, edit) => {
    const checkout = makeMergeable();
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(worktree, `${script}; ${edit}`);
    await expect(sandbox.commit()).rejects.toMatchObject({ data: { reason: "unresolved" } });
    const shown = (await sandbox.diff()).changes.find((change) => change.path === path);
    expect(shown).toMatchObject({
      kind: "deleted",
      notes: [expect.stringContaining("not resolved")],
    });
    await sandbox.drop([path]);
    expect(git(worktree, "ls-files", "-u")).toBe("");
    expect(shell(worktree, `ls ${path}`)).toBe("kept.tmp\n");
    expect((await sandbox.diff()).changes.some(({ notes = [] }) => notes.length > 0)).toBe(false);
    await sandbox.commit();
  },
);

test.each([
  ["removed from", "seq 5 > list"],
  ["gone with", "rm list"],
])(
  "a conflict whose marks are %s the file is resolved, also without git add (R51)",
  async (_name, edit) => {
    const checkout = makeMergeable();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const worktree = await sandbox.getPath();
    shell(worktree, clash("echo t >> list", "echo m >> list"));
    await expect(sandbox.commit()).rejects.toMatchObject({ data: { reason: "unresolved" } });
    expect((await sandbox.diff()).changes).toMatchObject([
      { path: "list", notes: [expect.stringContaining("not resolved")] },
    ]);
    shell(worktree, edit);
    expect((await sandbox.diff()).changes[0]?.notes).toBe(undefined);
    await sandbox.commit();
    expect(shell(root, "cat list 2> /dev/null || true")).toBe(
      shell(worktree, "cat list 2> /dev/null || true"),
    );
    expect(git(root, "rev-list", "--count", "--merges", "HEAD")).toBe("1");
  },
);

test("an unresolved file can be dropped, and others beside it; settling with the branch is not what it needs (R53)", async () => {
  const checkout = makeMergeable();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(worktree, `${BYTES}; echo edited > a.txt; echo kept > b.txt`);
  for (const how of ["mine", "theirs", "merge"] as const) {
    const attempt = sandbox.resolve(["bin"], how);
    await expect(attempt).rejects.toMatchObject({ data: { reason: "unresolved" } });
  }
  await sandbox.drop(["a.txt"]);
  await expect(sandbox.commit()).rejects.toMatchObject({ data: { reason: "unresolved" } });
  await sandbox.drop(["bin"]);
  expect((await sandbox.diff()).changes).toMatchObject([{ path: "b.txt" }]);
  await sandbox.commit();
  expect(shell(root, "cat a.txt b.txt; printf '\\0b' | cmp - bin")).toBe(
    "one\ntwo\nthree\nfour\nfive\nkept\n",
  );
});

test("an unresolved submodule is told and refused as such (R51, R58)", async () => {
  const checkout = makeMergeable();
  const put = (commit: string): string =>
    `git update-index --add --cacheinfo 160000,$(git rev-parse ${commit}),lib`;
  shell(checkout.root, `${put("HEAD")}; mkdir lib; git commit -qm lib`);
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const commit = (side: string): string => `${put(side)}; git commit -qm x`;
  shell(
    await sandbox.getPath(),
    `git checkout -q -b top; ${commit("HEAD")}; git checkout -q -; ${commit("HEAD~2")}; git merge -q top > ../said 2>&1 || true`,
  );
  expect((await sandbox.diff()).changes).toMatchObject([
    { path: "lib", notes: [expect.any(String), expect.stringContaining("not resolved")] },
  ]);
  await expect(sandbox.commit()).rejects.toMatchObject({ data: { reason: "unresolved" } });
});
