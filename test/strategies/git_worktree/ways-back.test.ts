import { readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CheckpointError, type Sandbox } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { EDITS, filesOf, git, makeCheckout, openGit } from "./checkout.ts";

/** The folder of the only checkpoint of a sandbox. */
function checkpointIn(directory: string): string {
  const found = shell(directory, "find . -name kept.json -printf '%h\\n'").trim().split("\n");
  expect(found).toHaveLength(1);
  return join(directory, found[0] ?? "");
}

async function expectRefusedRestore(sandbox: Sandbox): Promise<void> {
  const worktree = await sandbox.getPath();
  const before = filesOf(worktree);
  const status = git(worktree, "status", "--porcelain");
  const restoring = sandbox.restoreCheckpoint("kept");
  await expect(restoring).rejects.toBeInstanceOf(CheckpointError);
  await expect(restoring).rejects.toMatchObject({ code: "CHECKPOINT" });
  expectOracleEqual(before, filesOf(worktree));
  expect(git(worktree, "status", "--porcelain")).toBe(status);
  expect((await sandbox.describe()).status).toBe("ACTIVE");
}

test("a checkpoint that cannot be made leaves nothing half made, and the next one works", async () => {
  const checkout = makeCheckout();
  await using bench = await openGit(checkout);
  const { sandbox, directory } = bench;
  const worktree = await sandbox.getPath();
  shell(worktree, EDITS);
  const branch = git(worktree, "symbolic-ref", "HEAD").trim();
  const commit = git(worktree, "rev-parse", "HEAD").trim();
  shell(checkout.root, `git update-ref -d ${branch}`);
  await expect(sandbox.checkpoint("kept")).rejects.toBeInstanceOf(CheckpointError);
  expect(readdirSync(directory).filter((name) => name.startsWith("building-"))).toEqual([]);
  shell(checkout.root, `git update-ref ${branch} ${commit}`);
  const kept = filesOf(worktree);
  await sandbox.checkpoint("kept");
  shell(worktree, "rm -rf ./*");
  await sandbox.restoreCheckpoint("kept");
  expectOracleEqual(kept, filesOf(await sandbox.getPath()));
});

test("a checkpoint whose record is damaged is refused, and the worktree stays as it is", async () => {
  await using bench = await openGit(makeCheckout());
  const { sandbox, directory } = bench;
  await sandbox.write("a.txt", "kept\n");
  await sandbox.checkpoint("kept");
  await sandbox.write("a.txt", "later\n");
  writeFileSync(join(checkpointIn(directory), "kept.json"), "{");
  await expectRefusedRestore(sandbox);
});

test("a restore that fails half way is taken back, and can be repeated", async () => {
  await using bench = await openGit(makeCheckout());
  const { sandbox, directory } = bench;
  await sandbox.write("a.txt", "kept\n");
  await sandbox.checkpoint("kept");
  await sandbox.write("a.txt", "later\n");
  const index = join(checkpointIn(directory), "index");
  renameSync(index, `${index}.away`);
  await expectRefusedRestore(sandbox);
  renameSync(`${index}.away`, index);
  await sandbox.restoreCheckpoint("kept");
  expect(Buffer.from(await sandbox.read("a.txt")).toString()).toBe("kept\n");
});
