import { expect, test } from "vitest";
import { SandboxPathError } from "../../../src/index.ts";
import { shell } from "../shell.ts";
import { git, knownOf, makeCheckout, openGit } from "./checkout.ts";

test("a conflict says which side deleted the file, and settling one path names no other", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  shell(
    await sandbox.getPath(),
    "sed -i s/two/OURS/ a.txt; echo ours > b.txt; rm tool; echo x > z",
  );
  shell(
    checkout.root,
    "sed -i s/two/THEIRS/ a.txt; rm b.txt; echo more >> tool; echo y > z; git add -A; git commit -qm theirs",
  );
  const conflicts = [
    { path: "a.txt", reason: "overlap" },
    { path: "b.txt", reason: "missing" },
    { path: "tool", reason: "changed" },
    { path: "z", reason: "overlap" },
  ];
  await expect(sandbox.commit()).rejects.toMatchObject({ data: { reason: "merge", conflicts } });
  for (const one of conflicts) {
    const attempt = sandbox.resolve([one.path], "merge");
    await expect(attempt).rejects.toMatchObject({
      code: "SANDBOX_CONFLICT",
      data: { failedPath: one.path, conflicts: [one] },
    });
  }
});

test("a merge with very many unresolved files is told with a few names, and all of them as data", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  const commit = (side: string): string =>
    `for n in $(seq 50); do echo ${side} > file-$n; done; git add -A
     git -c user.name=t -c user.email=t@t.invalid commit -qm ${side};`;
  shell(checkout.root, commit("theirs"));
  shell(worktree, `${commit("ours")} git merge -q main || true`);
  const refusal = await bench.sandbox.commit().catch((error: unknown) => error);
  expect(refusal).toMatchObject({ data: { reason: "unresolved" } });
  const { data, message } = refusal as Error & { data: { conflicts: readonly unknown[] } };
  expect(data.conflicts).toHaveLength(50);
  expect(message.match(/file-/g)).toHaveLength(3);
});

test("a worktree that somebody has removed is told as gone, and cleaning up frees the plan", async () => {
  const checkout = makeCheckout();
  const before = knownOf(checkout.root);
  const bench = await openGit(checkout);
  const { sandbox } = bench;
  const worktree = await sandbox.getPath();
  await sandbox.checkpoint("kept");
  git(checkout.root, "worktree", "remove", "-f", "-f", worktree);
  const attempts = {
    diff: () => sandbox.diff(),
    commit: () => sandbox.commit(),
    getPath: () => sandbox.getPath(),
    rollback: () => sandbox.rollback(),
  };
  for (const attempt of Object.values(attempts)) {
    const error = await attempt().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SandboxPathError);
    expect(error).toMatchObject({ data: { path: worktree, reason: "missing" } });
  }
  await sandbox.cleanup({ force: true });
  expect(knownOf(checkout.root)).toBe(before);
  await bench.coffer.close();
});

test("a repository that was moved is told as such, and its edits can be committed once it is back", async () => {
  const checkout = makeCheckout();
  const { folder, root } = checkout;
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  shell(folder, "mv real moved");
  for (const call of [() => bench.sandbox.diff(), () => bench.sandbox.drop(["a.txt"])]) {
    const refusal = await call().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SandboxPathError);
    expect(refusal).toMatchObject({ data: { path: `${root}/.git`, reason: "missing" } });
  }
  shell(folder, "mv moved real");
  await bench.sandbox.commit();
  expect(git(root, "show", "HEAD:a.txt")).toBe("edited");
});
