import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SandboxCreationError } from "../../../src/index.ts";
import { shell } from "../shell.ts";
import { runChild } from "../../support/child.ts";
import { ordinaryUser } from "../../support/privilege.ts";
import { git, makeCheckout, openGit } from "./checkout.ts";

test("a repository of somebody else is refused with what to do", async () => {
  const checkout = makeCheckout();
  const before = process.env["HOME"];
  // Settings of whoever runs this test may trust every repository.
  process.env["HOME"] = join(checkout.folder, "home");
  mkdirSync(process.env["HOME"]);
  onTestFinished(() => {
    process.env["HOME"] = before;
  });
  shell(checkout.root, "chown -R 65534 .");
  const attempt = openGit(checkout);
  await expect(attempt).rejects.toBeInstanceOf(SandboxCreationError);
  await expect(attempt).rejects.toMatchObject({ data: { stage: "ownership", residue: [] } });
});

test("an index that another user wrote is replaced by whoever may write in its folder", async () => {
  const { uid, env, home } = ordinaryUser();
  const checkout = makeCheckout();
  const root = join(home, "checkout");
  shell(
    home,
    `cp -a '${checkout.root}' checkout; chown -R ${uid} checkout; chown 0:0 checkout/.git/index`,
  );
  const program = new URL("../programs/life.ts", import.meta.url);
  const order = [join(home, "state"), root, "git_worktree", "", "echo new > a.txt", "cat a.txt"];
  const { stdout, stderr } = await runChild(program, order, { env, uid });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toMatchObject({ changes: [["a.txt", "modified"]], seen: "new\n" });
  expect(shell(root, "stat -c %u .git/index")).toBe(`${uid}\n`);
  expect(git(root, "-c", "safe.directory=*", "status", "--porcelain")).toBe("");
});
