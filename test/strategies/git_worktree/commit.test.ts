import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SandboxCommitError, SandboxConflictError } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { EDITS, filesOf, git, gitState, makeCheckout, openGit } from "./checkout.ts";

test("publishes every kind of edit as one commit with message and author, and names it (R46)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  const author = { name: "Ada", email: "ada@example.invalid" };
  await using bench = await openGit(checkout, { properties: { author } });
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  shell(worktree, EDITS);
  const first = git(root, "rev-parse", "HEAD");
  const result = await sandbox.commit({ message: "all kinds\n\nwith a body" });
  expect(result).toMatchObject({ noop: false, revision: git(root, "rev-parse", "main") });
  expect(result.added).toEqual(["docs", "made/deep/file", "new-name", "new.txt"]);
  expect(result.deleted).toEqual(["docs/page", "old-name", "src/deep/leaf", "src/gone"]);
  expect(result.changed).toEqual(["a.txt", "b.txt", "link"]);
  expect(git(root, "log", "-1", "--format=%an <%ae>|%cn|%P|%B")).toBe(
    `Ada <ada@example.invalid>|Tess|${first}|all kinds\n\nwith a body\n`,
  );
  expect(git(root, "show", "--raw", "-M", "--format=", "HEAD").split("\n")).toEqual([
    expect.stringMatching(/^:100644 100644 \w+ \w+ M\ta\.txt$/),
    expect.stringMatching(/^:100644 100755 \w+ \w+ M\tb\.txt$/),
    expect.stringMatching(/^:000000 100644 \w+ \w+ A\tdocs$/),
    expect.stringMatching(/^:100644 000000 \w+ \w+ D\tdocs\/page$/),
    expect.stringMatching(/^:120000 120000 \w+ \w+ M\tlink$/),
    expect.stringMatching(/^:000000 100644 \w+ \w+ A\tmade\/deep\/file$/),
    expect.stringMatching(/^:100644 100644 \w+ \w+ R100\told-name\tnew-name$/),
    expect.stringMatching(/^:000000 100644 \w+ \w+ A\tnew\.txt$/),
    expect.stringMatching(/^:100644 000000 \w+ \w+ D\tsrc\/deep\/leaf$/),
    expect.stringMatching(/^:100644 000000 \w+ \w+ D\tsrc\/gone$/),
  ]);
  expectOracleEqual(filesOf(worktree), filesOf(root), { ignore: ["mtimes"] });
  expect(git(root, "status", "--porcelain")).toBe("");
  expect(git(root, "diff-files", "--name-only")).toBe("");
  expect(git(root, "reflog", "-1", "--format=%gs")).toBe("cofferdam: all kinds");
  git(root, "fsck", "--strict");
});

test("a commit without changes makes nothing, and its undo leaves a foreign commit alone (R48)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  shell(await bench.sandbox.getPath(), "echo i > x.tmp; touch a.txt");
  const tip = git(root, "rev-parse", "HEAD");
  const result = await bench.sandbox.commit({ message: "nothing" });
  expect(result).toMatchObject({ noop: true, revision: null });
  expect(git(root, "rev-parse", "HEAD")).toBe(tip);
  shell(root, "echo foreign > f; git add f; git commit -qm foreign");
  const foreign = gitState(root);
  await bench.sandbox.rollback();
  expect(gitState(root).split("\n--\n").slice(0, 5)).toEqual(foreign.split("\n--\n").slice(0, 5));
});

test.each(["index", "object"])(
  "a damaged %s is an error and never means that there are no changes (R47)",
  async (what) => {
    const checkout = makeCheckout();
    const { root } = checkout;
    await using bench = await openGit(checkout);
    const worktree = await bench.sandbox.getPath();
    await bench.sandbox.write("a.txt", "edited\n");
    const admin = git(worktree, "rev-parse", "--git-dir");
    const tree = git(root, "rev-parse", "HEAD^{tree}");
    const file =
      what === "index"
        ? join(admin, "index")
        : join(root, ".git/objects", tree.slice(0, 2), tree.slice(2));
    const good = readFileSync(file);
    shell("/", `chmod u+w '${file}'`);
    writeFileSync(file, Buffer.from(good).fill(7, 4));
    const tip = git(root, "rev-parse", "HEAD");
    const attempt = bench.sandbox.commit();
    await expect(attempt).rejects.toBeInstanceOf(SandboxCommitError);
    await expect(attempt).rejects.toMatchObject({
      data: { reason: "git", originalRestored: true },
    });
    expect(await bench.coffer.status(bench.ref)).toBe("ACTIVE");
    expect(git(root, "rev-parse", "HEAD")).toBe(tip);
    writeFileSync(file, good);
    const result = await bench.sandbox.commit();
    expect(result.changed).toEqual(["a.txt"]);
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("edited\n");
  },
);

test("merges with what the branch became meanwhile", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
  shell(root, "sed -i s/five/FIVE/ a.txt; echo theirs > t; git add -A; git commit -qm theirs");
  const theirs = git(root, "rev-parse", "HEAD");
  const result = await bench.sandbox.commit({ message: "ours" });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("ONE\ntwo\nthree\nfour\nFIVE\n");
  expect(git(root, "log", "-1", "--format=%P")).toBe(
    `${theirs} ${result.metadata["commit"] as string}`,
  );
  expect(result.changed).toEqual(["a.txt"]);
  expect(git(root, "status", "--porcelain")).toBe("");
});

test("a conflict names its paths and keeps everything, so that it can be resolved and committed (R51, R53)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  shell(worktree, "sed -i s/two/OURS/ a.txt; echo more > more");
  shell(root, "sed -i s/two/THEIRS/ a.txt; git commit -qam theirs");
  const [files, state, edits] = [filesOf(root), gitState(root), filesOf(worktree)];
  const attempt = bench.sandbox.commit({ message: "ours" });
  await expect(attempt).rejects.toBeInstanceOf(SandboxConflictError);
  await expect(attempt).rejects.toMatchObject({
    code: "SANDBOX_CONFLICT",
    data: { conflicts: [{ path: "a.txt", reason: "overlap" }] },
  });
  expect(await bench.coffer.status(bench.ref)).toBe("ACTIVE");
  expectOracleEqual(files, filesOf(root));
  expectOracleEqual(edits, filesOf(worktree));
  expect(gitState(root)).toBe(state);
  expect(shell(root, "ls -A .git | grep -e MERGE -e lock -e cofferdam || true")).toBe("");
  shell(
    worktree,
    "git add -A; git -c user.name=t -c user.email=t@t.invalid commit -qm mine; git merge -q main || true",
  );
  await expect(bench.sandbox.commit()).rejects.toMatchObject({
    code: "SANDBOX_CONFLICT",
    data: { conflicts: [{ path: "a.txt" }] },
  });
  await bench.sandbox.write("a.txt", "one\nBOTH\nthree\nfour\nfive\n");
  await bench.sandbox.commit({ message: "resolved" });
  expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("one\nBOTH\nthree\nfour\nfive\n");
  expect(git(root, "status", "--porcelain")).toBe("");
  expect(git(root, "log", "-1", "--format=%s")).toBe("resolved");
});

describe("the user's own work", () => {
  const DIRTY = `
    echo staged > staged; git add staged; echo unstaged >> docs/page; echo u > untracked; echo t > x.tmp
    printf 'half\\n' >> tool; git add tool; printf 'other half\\n' >> tool; git rm -q --cached old-name
  `;

  test("survives a commit and its undo byte for byte where it does not overlap (R49, R56)", async () => {
    const checkout = makeCheckout();
    const { root } = checkout;
    shell(root, DIRTY);
    await using bench = await openGit(checkout);
    const [files, index] = [filesOf(root), git(root, "ls-files", "-s")];
    const tip = git(root, "rev-parse", "HEAD");
    const status = git(root, "status", "--porcelain=v2");
    shell(await bench.sandbox.getPath(), "echo edited > a.txt; rm -r src; mkdir n; echo n > n/n");
    await bench.sandbox.commit({ message: "disjoint" });
    expect(git(root, "status", "--porcelain=v2")).toBe(status);
    const rest = filesOf(root).filter(({ path }) => !/^(a\.txt|src|n)(\/|$)/.test(path));
    expectOracleEqual(
      files.filter(({ path }) => !/^(a\.txt|src)(\/|$)/.test(path)),
      rest,
      { ignore: ["rootMtime"] },
    );
    await bench.sandbox.rollback();
    expectOracleEqual(files, filesOf(root));
    expect(git(root, "ls-files", "-s")).toBe(index);
    expect(git(root, "rev-parse", "HEAD")).toBe(tip);
    expect(git(root, "status", "--porcelain=v2")).toBe(status);
    git(root, "fsck", "--strict");
  });

  test.each([
    ["an unstaged edit", "echo dirty >> a.txt", "a.txt", "echo edited > a.txt"],
    ["a staged edit", "echo dirty >> a.txt; git add a.txt", "a.txt", "echo edited > a.txt"],
    [
      "an edit staged and taken back",
      "cp a.txt k; echo d >> a.txt; git add a.txt; mv k a.txt",
      "a.txt",
      "echo edited > a.txt",
    ],
    ["an untracked file", "echo mine > new", "new", "echo theirs > new"],
    [
      "an ignored file",
      "echo mine > new.tmp",
      "new.tmp",
      "echo theirs > new.tmp; git add -f new.tmp",
    ],
    ["a removed file", "rm a.txt", "a.txt", "echo edited > a.txt"],
    ["a folder where a file goes", "mkdir new; echo mine > new/mine", "new", "echo theirs > new"],
    ["a file where a folder goes", "echo mine > new", "new/x", "mkdir new; echo x > new/x"],
    [
      "an untracked file in a folder that becomes a file",
      "echo mine > docs/mine",
      "docs",
      "rm -r docs; echo x > docs",
    ],
  ])(
    "refuses before anything moves when it overlaps: %s (R56)",
    async (_name, theirs, path, ours) => {
      const checkout = makeCheckout();
      const { root } = checkout;
      await using bench = await openGit(checkout);
      shell(await bench.sandbox.getPath(), `echo other > tool; ${ours}`);
      shell(root, theirs);
      const files = filesOf(root);
      const sums = "sha256sum .git/index .git/HEAD .git/refs/heads/main";
      const before = shell(root, sums);
      const attempt = bench.sandbox.commit();
      await expect(attempt).rejects.toBeInstanceOf(SandboxConflictError);
      await expect(attempt).rejects.toMatchObject({
        data: { conflicts: [expect.objectContaining({ path })] },
      });
      expectOracleEqual(files, filesOf(root));
      expect(shell(root, sums)).toBe(before);
      expect(existsSync(join(root, ".git/index.lock"))).toBe(false);
    },
  );

  test("keeps a folder that still holds files of the user", async () => {
    const checkout = makeCheckout();
    const { root } = checkout;
    shell(root, "echo mine > docs/x.tmp");
    await using bench = await openGit(checkout);
    shell(await bench.sandbox.getPath(), "rm -r docs src");
    await bench.sandbox.commit();
    expect(shell(root, "find docs src 2> /dev/null || true")).toBe("docs\ndocs/x.tmp\n");
    expect(git(root, "status", "--porcelain")).toBe("");
  });
});

test("a lock of somebody else's git refuses, and is still there afterwards (R51)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  for (const lock of [".git/index.lock", ".git/refs/heads/main.lock"]) {
    writeFileSync(join(root, lock), "theirs");
    const [files, state] = [filesOf(root), git(root, "rev-parse", "HEAD")];
    await expect(bench.sandbox.commit()).rejects.toMatchObject({
      code: "SANDBOX_CONFLICT",
      data: { conflicts: [{ path: lock, reason: "locked" }] },
    });
    expectOracleEqual(files, filesOf(root));
    expect(git(root, "rev-parse", "HEAD")).toBe(state);
    expect(readFileSync(join(root, lock), "utf8")).toBe("theirs");
    expect(shell(root, "find .git -name '*.lock' -o -name 'cofferdam-*.*'")).toBe(`${lock}\n`);
    shell(root, `rm ${lock}`);
  }
  await bench.sandbox.commit();
  expect(git(root, "status", "--porcelain")).toBe("");
  writeFileSync(join(root, ".git/index.lock"), "theirs");
  await expect(bench.sandbox.undoCommit()).rejects.toMatchObject({
    operation: "rollback",
    hint: expect.stringMatching(/^Roll back again/) as string,
  });
  expect(readFileSync(join(root, ".git/index.lock"), "utf8")).toBe("theirs");
  shell(root, "rm .git/index.lock");
  await bench.sandbox.undoCommit();
});

test("commits that the branch lost when somebody rewrote it come back with a warning", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "echo second >> b.txt; git commit -qam second");
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  const first = git(root, "rev-parse", "HEAD");
  shell(root, "git commit -q --amend -m amended");
  const { warnings } = await bench.sandbox.commit();
  expect(warnings).toEqual([expect.stringContaining(first.slice(0, 12))]);
  git(root, "merge-base", "--is-ancestor", first, "HEAD");
});
