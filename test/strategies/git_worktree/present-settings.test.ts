import { expect, test } from "vitest";
import { digestChanges } from "../../../src/contract/diff-view.ts";
import { shell } from "../shell.ts";
import { git, makeCheckout, openGit } from "./checkout.ts";

test("what the repository ignores by info/exclude since the sandbox was made stays in the sandbox", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), "echo KEY > secret.key; echo b2 > b.txt");
  expect((await sandbox.diff()).changes.map(({ path }) => path)).toEqual(["b.txt", "secret.key"]);
  shell(root, "echo 'secret*' >> .git/info/exclude");
  expect((await sandbox.diff()).changes.map(({ path }) => path)).toEqual(["b.txt"]);
  await sandbox.commit();
  expect(git(root, "show", "--format=", "--name-only")).toBe("b.txt");
});

test("what info/exclude no longer names, or is gone with it, is an edit again", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "echo 'secret*' >> .git/info/exclude");
  await using bench = await openGit(checkout);
  shell(await bench.sandbox.getPath(), "echo KEY > secret.key");
  expect((await bench.sandbox.diff()).changes).toEqual([]);
  shell(root, "rm .git/info/exclude");
  expect((await bench.sandbox.diff()).changes).toHaveLength(1);
});

test("line endings, attributes and the user are those that the repository has when the commit is made", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), "printf 'x\\r\\n' > new; printf 'x\\r\\n' > kept");
  shell(
    root,
    "git config core.autocrlf input; git config user.name Other; echo 'kept -text' > .git/info/attributes",
  );
  await sandbox.commit();
  expect(git(root, "ls-files", "--eol", "new", "kept").split("\n")).toEqual([
    expect.stringMatching(/^i\/crlf .*kept$/),
    expect.stringMatching(/^i\/lf .*new$/),
  ]);
  expect(git(root, "log", "-1", "--format=%an")).toBe("Other");
});

test("a program that the repository is told to run since the sandbox was made does not run", async () => {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), "echo b2 > b.txt; echo '*.txt filter=trap' > .gitattributes");
  shell(
    root,
    `git config core.fsmonitor 'touch ${folder}/ran'; git config filter.trap.clean 'touch ${folder}/ran; cat'`,
  );
  expect((await sandbox.diff()).changes).toHaveLength(2);
  await expect(sandbox.commit()).rejects.toMatchObject({ data: { reason: "filter" } });
  expect(shell(folder, "ls ran 2> /dev/null || echo none")).toBe("none\n");
});

test("a diff is the same again while nothing changes, also for several who look at once", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), "echo b2 > b.txt; echo n > new");
  const first = digestChanges((await sandbox.diff()).changes);
  shell(checkout.root, "git config user.name Other; echo never >> .git/info/exclude");
  const views = await Promise.all(Array.from({ length: 4 }, () => sandbox.diff()));
  expect(views.map(({ changes }) => digestChanges(changes))).toEqual([first, first, first, first]);
});

test("a file outside of the sandbox's sparse checkout is an edit, also when the checkout is whole since", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "mkdir d1 d2; echo f > d1/f; echo f > d2/f; git add -A; git commit -qm folders");
  git(root, "sparse-checkout", "set", "d1");
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(await sandbox.getPath(), "mkdir d2; echo edited > d2/f");
  git(root, "sparse-checkout", "disable");
  expect((await sandbox.diff()).changes.map(({ path }) => path)).toEqual(["d2/f"]);
});
