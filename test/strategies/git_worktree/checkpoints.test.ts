import { join } from "node:path";
import { expect, test } from "vitest";
import { openCofferdam } from "../../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { EDITS, filesOf, git, knownOf, makeCheckout, openGit } from "./checkout.ts";

test("a checkpoint brings back every file, ignored ones included, and where the worktree's branch was", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(worktree, `${EDITS} echo i > x.tmp; mkdir empty; chmod 600 tool; git add new.txt`);
  const [kept, status] = [filesOf(worktree), git(worktree, "status", "--porcelain")];
  const head = git(worktree, "rev-parse", "HEAD");
  await sandbox.checkpoint("kept");
  shell(
    worktree,
    "rm -r *; echo other > a.txt; git add -A; git -c user.name=t -c user.email=t@t.invalid commit -qm own",
  );
  await sandbox.restoreCheckpoint("kept");
  expectOracleEqual(kept, filesOf(await sandbox.getPath()));
  expect(git(worktree, "status", "--porcelain")).toBe(status);
  expect(git(worktree, "rev-parse", "HEAD")).toBe(head);
  await sandbox.rollback();
  await sandbox.restoreCheckpoint("kept");
  expectOracleEqual(kept, filesOf(await sandbox.getPath()));
  const pins = (): string[] =>
    git(checkout.root, "for-each-ref", "--format=%(refname)", "refs/cofferdam").split("\n");
  const before = pins();
  await sandbox.deleteCheckpoint("kept");
  expect(pins()).toHaveLength(before.length - 1);
});

test("a git that was killed with our branch or our HEAD locked keeps nobody from going back", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  const before = filesOf(worktree);
  const branch = git(worktree, "symbolic-ref", "HEAD");
  const lock = `${checkout.root}/.git/${branch}.lock`;
  await sandbox.checkpoint("kept");
  shell(worktree, `${EDITS} : > ${lock}`);
  await sandbox.restoreCheckpoint("kept");
  expectOracleEqual(before, filesOf(await sandbox.getPath()));
  shell(worktree, `${EDITS} : > ${lock}; : > "$(git rev-parse --git-dir)/HEAD.lock"`);
  await sandbox.rollback();
  expectOracleEqual(before, filesOf(await sandbox.getPath()), { ignore: ["mtimes"] });
  expect(shell(checkout.root, "find .git -name '*.lock'")).toBe("");
});

test("a fork begins with what the first sandbox holds, and both commit on their own", async () => {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  const before = knownOf(root);
  const coffer = await openCofferdam({ stateDirectory: join(folder, "state"), config: false });
  const resource = { resourceId: "r", type: "git-repository", location: root };
  const first = coffer.sandbox(await coffer.create("first", resource));
  await first.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
  const second = (await (await coffer.plan("first")).fork("second")).sandbox("r");
  expect(Buffer.from(await second.read("a.txt")).toString()).toContain("ONE");
  await second.write("b.txt", "by the second\n");
  await first.cleanup();
  await second.commit({ message: "forked" });
  expect(git(root, "show", "--name-only", "--format=%s", "HEAD")).toBe("forked\n\na.txt\nb.txt");
  expect(git(root, "status", "--porcelain")).toBe("");
  await second.rollback();
  await second.cleanup();
  await coffer.close();
  expect(knownOf(root)).toBe(before);
});

test("a plan of a repository and a directory is kept, restored, committed and undone as one", async () => {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  const directory = join(folder, "data");
  shell(folder, "mkdir data; echo data > data/d; echo more > data/m");
  const [files, data] = [filesOf(root), takeOracle(directory)];
  const tip = git(root, "rev-parse", "HEAD");
  const coffer = await openCofferdam({ stateDirectory: join(folder, "state"), config: false });
  await coffer.create("both", { resourceId: "code", type: "git-repository", location: root });
  await coffer.create(
    "both",
    { resourceId: "data", type: "fs-directory", location: directory },
    { strategy: "copy_on_write" },
  );
  const plan = await coffer.plan("both");
  const [code, store] = [plan.sandbox("code"), plan.sandbox("data")];
  await code.write("a.txt", "migrated\n");
  await store.write("d", "migrated\n");
  await plan.checkpoint("good");
  await code.write("a.txt", "broken\n");
  await store.remove("d");
  await plan.restoreCheckpoint("good");
  // Somebody else's edit of the directory fails the whole plan, in both orders of its members.
  shell(directory, "echo foreign > d");
  await expect(plan.commit()).rejects.toMatchObject({ code: "ATOMIC_COMMIT" });
  expectOracleEqual(files, filesOf(root));
  expect(git(root, "rev-parse", "HEAD")).toBe(tip);
  expect(shell(root, "find .git -name '*.lock' -o -name 'cofferdam-*.*'")).toBe("");
  shell(directory, "echo data > d");
  await store.rollback();
  await store.write("d", "migrated\n");
  shell(root, "echo dirty >> a.txt");
  await expect(plan.commit()).rejects.toMatchObject({ code: "ATOMIC_COMMIT" });
  expect(shell(directory, "cat d")).toBe("data\n");
  shell(root, "git checkout -q -- a.txt");
  await plan.commit({ message: "both" });
  expect([shell(root, "cat a.txt"), shell(directory, "cat d")]).toEqual([
    "migrated\n",
    "migrated\n",
  ]);
  expect(git(root, "log", "-1", "--format=%s")).toBe("both");
  expect(git(root, "status", "--porcelain")).toBe("");
  await plan.undo();
  expect(git(root, "rev-parse", "HEAD")).toBe(tip);
  expectOracleEqual(files, filesOf(root), { ignore: ["mtimes"] });
  expectOracleEqual(data, takeOracle(directory), { ignore: ["mtimes"] });
  await plan.cleanup();
  await coffer.close();
});

const AS_T = "-c user.name=t -c user.email=t@t.invalid";
const GC = "git reflog expire --expire=now --all; git gc -q --prune=now";

test.each([
  ["staged edits", "echo staged > b.txt; echo new > new.txt; git add -A; echo later > b.txt"],
  [
    "paths without content",
    "echo new > new.txt; git add -N new.txt; echo s > b.txt; git add b.txt",
  ],
  [
    "an unfinished merge of lost commits",
    `echo ours > b.txt; git ${AS_T} commit -qam ours; git checkout -q --detach HEAD^
     echo theirs > b.txt; rm tool; git ${AS_T} commit -qam theirs; theirs=$(git rev-parse HEAD)
     git checkout -q -; git ${AS_T} merge -q $theirs || true; echo more > a.txt; git add a.txt`,
  ],
])("a checkpoint keeps %s from being collected as garbage", async (_name, edits) => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const plan = await bench.coffer.plan(bench.ref.planId);
  const worktree = await bench.sandbox.getPath();
  const pins = git(checkout.root, "for-each-ref", "refs/cofferdam");
  shell(worktree, edits);
  const look = (folder: string): string =>
    shell(
      folder,
      "git status --porcelain=v2; git ls-files -s | cut -d' ' -f2 | git cat-file --batch",
    );
  const before = look(worktree);
  await plan.checkpoint("dropped");
  await plan.deleteCheckpoint("dropped");
  expect(git(checkout.root, "for-each-ref", "refs/cofferdam")).toBe(pins);
  await plan.checkpoint("kept");
  shell(worktree, "git reset -q --hard; git reset -q --hard main");
  shell(checkout.root, GC);
  const fork = await plan.fork("forked", { from: "kept" });
  expect(look(await fork.sandbox(bench.ref.resourceId).getPath())).toBe(before);
  await fork.cleanup({ force: true });
  await plan.restoreCheckpoint("kept");
  expect(look(worktree)).toBe(before);
  shell(worktree, "echo resolved > b.txt");
  expect((await bench.sandbox.diff()).changes.length).toBeGreaterThan(0);
});
