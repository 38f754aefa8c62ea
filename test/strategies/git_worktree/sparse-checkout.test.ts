import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { type Checkout, filesOf, git, makeCheckout, openGit } from "./checkout.ts";

/** A checkout of which only a part is there. */
function makeSparse(set: string): Checkout {
  const checkout = makeCheckout();
  shell(
    checkout.root,
    `mkdir d1 d2; echo f > d1/f; echo f > d2/f; git add -A; git commit -qm folders; git sparse-checkout set ${set}`,
  );
  return checkout;
}

/** The entries of the index that are not checked out. */
function outsideOf(root: string): string[] {
  return git(root, "ls-files", "-t")
    .split("\n")
    .filter((line) => line.startsWith("S "))
    .map((line) => line.slice(2));
}

test.each([
  ["a cone", "d1"],
  ["patterns", "--no-cone '/*' '!/d2/' '!/src/' '!/docs/'"],
])(
  "a new file outside of a sparse checkout is committed without appearing there: %s (R58)",
  async (_name, set) => {
    const checkout = makeSparse(set);
    const { root } = checkout;
    const [files, index] = [filesOf(root), git(root, "ls-files", "-s", "-t")];
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    const odd = "printf 'd2/caf\\351'";
    shell(
      await sandbox.getPath(),
      `mkdir -p d2/deep; echo z > d2/new; echo z > d2/deep/er; echo z > "$(${odd})"; echo n > d1/new; echo t > top`,
    );
    const { added } = await sandbox.commit();
    expect(added).toHaveLength(5);
    expect(git(root, "show", "HEAD:d2/new")).toBe("z");
    expect(shell(root, "cat d1/new top; ls -d d2 2> /dev/null || echo none")).toBe("n\nt\nnone\n");
    expect(outsideOf(root)).toEqual(
      expect.arrayContaining(["d2/deep/er", "d2/f", "d2/new", '"d2/caf\\351"']),
    );
    expect(git(root, "status", "--porcelain")).toBe("");
    await sandbox.rollback();
    expectOracleEqual(files, filesOf(root));
    expect(git(root, "ls-files", "-s", "-t")).toBe(index);
    expect(git(root, "status", "--porcelain")).toBe("");
  },
);

test("what the checkout leaves out counts as it is when the commit is made (R58)", async () => {
  const checkout = makeSparse("d1 d2");
  const { root } = checkout;
  await using bench = await openGit(checkout);
  shell(await bench.sandbox.getPath(), "echo z > d2/new; echo n > d1/new");
  git(root, "sparse-checkout", "set", "d1");
  await bench.sandbox.commit();
  expect(shell(root, "ls -d d1/new d2 2> /dev/null || true")).toBe("d1/new\n");
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("a file that goes outside of the checkout comes back there by an undo (R58)", async () => {
  const checkout = makeSparse("d1");
  const { root } = checkout;
  const index = git(root, "ls-files", "-s", "-t");
  await using bench = await openGit(checkout);
  shell(await bench.sandbox.getPath(), "git rm -q --sparse d2/f");
  expect(await bench.sandbox.commit()).toMatchObject({ deleted: ["d2/f"] });
  expect(git(root, "status", "--porcelain")).toBe("");
  await bench.sandbox.rollback();
  expect(git(root, "ls-files", "-s", "-t")).toBe(index);
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("somebody's own file outside of a sparse checkout is never taken for the new one (R58)", async () => {
  const checkout = makeSparse("d1");
  const { root } = checkout;
  await using bench = await openGit(checkout);
  shell(await bench.sandbox.getPath(), "mkdir -p d2; echo z > d2/new");
  shell(root, "mkdir d2; echo own > d2/new");
  await expect(bench.sandbox.commit()).rejects.toMatchObject({
    code: "SANDBOX_CONFLICT",
    data: { conflicts: [{ path: "d2/new", reason: "exists" }] },
  });
  expect(shell(root, "cat d2/new")).toBe("own\n");
});

test("an undo refuses when what was outside has been checked out since, and says what (R58)", async () => {
  const checkout = makeSparse("d1");
  const { root } = checkout;
  await using bench = await openGit(checkout);
  shell(await bench.sandbox.getPath(), "mkdir -p d2; echo z > d2/new");
  await bench.sandbox.commit();
  git(root, "sparse-checkout", "disable");
  await expect(bench.sandbox.rollback()).rejects.toMatchObject({
    code: "SANDBOX_ROLLBACK",
    data: { reason: "foreignEdits", paths: ["d2/new"] },
  });
  expect(existsSync(join(root, "d2/new"))).toBe(true);
  git(root, "sparse-checkout", "set", "d1");
  await bench.sandbox.rollback();
  expect(git(root, "ls-files", "d2")).toBe("d2/f");
});

test("a file that git was told to skip in an ordinary checkout is committed, stays there, and is named", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "git update-index --skip-worktree a.txt b.txt; echo own > b.txt");
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), "echo new > a.txt; rm b.txt; echo new > docs/page");
  const { warnings } = await sandbox.commit();
  expect(warnings).toEqual([expect.stringMatching(/--skip-worktree\): a\.txt, b\.txt$/)]);
  expect(shell(root, "head -1 a.txt; cat b.txt docs/page; git show HEAD:a.txt")).toBe(
    "one\nown\nnew\nnew\n",
  );
  await sandbox.undoCommit();
  expect(shell(root, "head -1 a.txt; cat b.txt docs/page")).toBe("one\nown\ntext\n");
});
