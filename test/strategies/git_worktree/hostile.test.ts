import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { OperationTimeoutError, SandboxCommitError, SandboxError } from "../../../src/index.ts";
import { expectOracleEqual } from "../../support/oracle.ts";
import { shell } from "../shell.ts";
import { filesOf, git, makeCheckout, openGit } from "./checkout.ts";
import { useHome } from "./home.ts";

const HOOKS = [
  "applypatch-msg commit-msg fsmonitor-watchman post-checkout post-commit post-index-change post-merge post-rewrite",
  "pre-auto-gc pre-commit pre-merge-commit pre-push pre-rebase prepare-commit-msg reference-transaction update",
].join(" ");

test("no hook, filter, driver, monitor or setting of a hostile repository runs (R239)", async () => {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  const markers = join(folder, "markers");
  const trap = (name: string): string => `touch ${markers}/${name}; cat`;
  shell(
    root,
    `mkdir ${markers} ../remote
     printf '* filter=evil diff=evil merge=evil\\n' > .gitattributes; git add -A; git commit -qm attributes
     for hook in ${HOOKS}; do printf '#!/bin/sh\\ntouch ${markers}/'$hook'\\n' > .git/hooks/$hook; chmod 755 .git/hooks/$hook; done
     git config core.fsmonitor '${trap("fsmonitor")}'
     git config filter.evil.clean '${trap("clean")}'; git config filter.evil.smudge '${trap("smudge")}'
     git config filter.evil.process '${trap("process")}'; git config filter.evil.required true
     git config diff.evil.textconv '${trap("textconv")}'; git config diff.evil.command '${trap("command")}'
     git config diff.external '${trap("external")}'; git config merge.evil.driver '${trap("driver")} > /dev/null'
     git config core.sshCommand '${trap("ssh")}'; git config core.editor '${trap("editor")}'
     git config core.pager '${trap("pager")}'; git config pager.diff '${trap("pager2")}'
     git config core.askPass '${trap("askpass")}'; git config credential.helper '!${trap("credential")}'
     git config gpg.program '${trap("gpg")}'; git config commit.gpgSign true; git config core.hooksPath .git/hooks
     git config alias.diff-tree '!${trap("alias")}'; git config core.alternateRefsCommand '${trap("alternate")}'
     git config remote.origin.url 'ext::sh -c ${markers}/ext'; git config remote.origin.promisor true
     git config remote.origin.uploadpack '${trap("upload")}'; git config extensions.partialClone origin
     git config submodule.recurse true; git config protocol.ext.allow always
     printf '[core]\\n\\tfsmonitor = ${trap("included")}\\n' > .git/more; git config include.path more`,
  );
  {
    await using bench = await openGit(checkout);
    const { sandbox } = bench;
    await sandbox.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
    await sandbox.write("new", "new\n");
    await (await sandbox.diff()).text();
    await sandbox.checkpoint("kept");
    await sandbox.restoreCheckpoint("kept");
    // A merge, so that drivers would be asked, and an index so old that git trusts no entry without a look at the file.
    const theirs = `printf 'one\\ntwo\\nthree\\nfour\\nFIVE\\n' > a.txt; git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c include.path=/dev/null`;
    shell(
      root,
      `${theirs} -c filter.evil.process= -c filter.evil.clean= -c filter.evil.required=false -c commit.gpgSign=false commit -qam theirs
       touch -d 2001-01-01 .git/index; rm -f ${markers}/*`,
    );
    // What the filter would convert is refused; the checkout has it for the other files still.
    await expect(sandbox.commit()).rejects.toMatchObject({ data: { reason: "filter" } });
    await sandbox.write(
      ".gitattributes",
      "* diff=evil merge=evil\nb.txt filter=evil\ntool filter=evil\n",
    );
    await sandbox.commit({ message: "mine" });
    await sandbox.rollback();
    await sandbox.getPath();
  }
  expect(readdirSync(markers)).toEqual([]);
  expect(shell(root, "cat a.txt")).toBe("one\ntwo\nthree\nfour\nFIVE\n");
});

test("a repository that a program plants in the worktree is refused by name and never entered (R239)", async () => {
  const checkout = makeCheckout();
  const { folder } = checkout;
  const marker = join(folder, "marker");
  await using bench = await openGit(checkout);
  shell(
    await bench.sandbox.getPath(),
    `git init -q planted; cd planted; git config user.name t; git config user.email t@t.invalid
     echo x > x; git add x; git commit -qm x; git config core.fsmonitor 'touch ${marker}'; echo y > x`,
  );
  const attempt = bench.sandbox.commit();
  await expect(attempt).rejects.toBeInstanceOf(SandboxCommitError);
  await expect(attempt).rejects.toMatchObject({
    data: { reason: "submodule", failedPath: "planted", originalRestored: true },
  });
  expect(existsSync(marker)).toBe(false);
});

test("a filter that hangs is ended with everything it started, and nothing has moved (R51, R57)", async () => {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  useHome(folder, "git config --global filter.slow.clean 'sleep 4711; cat'");
  await using bench = await openGit(checkout, { properties: { gitTimeoutMs: 2_000 } });
  const worktree = await bench.sandbox.getPath();
  shell(worktree, "echo '*.slow filter=slow' > .gitattributes; echo s > x.slow; echo e > a.txt");
  const [files, tip] = [filesOf(root), git(root, "rev-parse", "HEAD")];
  await expect(bench.sandbox.commit()).rejects.toBeInstanceOf(OperationTimeoutError);
  expect(shell("/", "ps -eo args | grep '^sleep 4711' || true")).toBe("");
  expectOracleEqual(files, filesOf(root));
  expect(git(root, "rev-parse", "HEAD")).toBe(tip);
  expect(shell(root, "find .git -name '*.lock' -o -name 'cofferdam-*.*'")).toBe("");
  shell(worktree, "rm x.slow .gitattributes");
  await bench.sandbox.commit();
  expect(shell(root, "cat a.txt")).toBe("e\n");
});

test("nobody is asked and no editor is opened, whatever the user's settings say (R57)", async () => {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  const wait = "sleep 4712";
  useHome(
    folder,
    `git config --global core.editor '${wait}'; git config --global core.askPass '${wait}'
     git config --global credential.helper '!${wait}'; git config --global core.pager '${wait}'
     git config --global commit.gpgSign true; git config --global gpg.program '${wait}'
     git config --global merge.verifySignatures true; git config --global core.fsmonitor '${wait}'`,
  );
  await using bench = await openGit(checkout, { properties: { gitTimeoutMs: 20_000 } });
  await bench.sandbox.write("a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
  shell(root, "export HOME=/nowhere; echo t > t; git add t; git commit -qm theirs");
  await bench.sandbox.commit({ message: "merged" });
  await bench.sandbox.rollback();
  expect(shell("/", "ps -eo args | grep '^sleep 4712' || true")).toBe("");
  expect(shell(root, "HOME=/nowhere git log -1 --format=%s")).toBe("theirs\n");
});

test("a filter of the user's own settings is used, so that large files stay what they are", async () => {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  useHome(
    folder,
    "git config --global filter.rot.clean 'tr a-z A-Z'; git config --global filter.rot.smudge 'tr A-Z a-z'",
  );
  shell(
    root,
    "export HOME=$PWD/../home; echo '*.rot filter=rot' > .gitattributes; echo text > x.rot; git add -A; git commit -qm rot",
  );
  await using bench = await openGit(checkout);
  const worktree = await bench.sandbox.getPath();
  expect(shell(worktree, "cat x.rot; git cat-file -p HEAD:x.rot")).toBe("text\nTEXT\n");
  shell(worktree, "echo changed > x.rot");
  await bench.sandbox.commit();
  expect(shell(root, "cat x.rot; git cat-file -p HEAD:x.rot")).toBe("changed\nCHANGED\n");
  expect(shell(root, "HOME=$PWD/../home git status --porcelain")).toBe("");
});

test.each([
  ["MERGE_HEAD", "--output=VICTIM"],
  ["rebase-merge/orig-head", "--output=VICTIM"],
  ["rebase-apply/orig-head", "--output=VICTIM"],
])("what a program puts into %s of the worktree is no option of git (R239)", async (file, line) => {
  const checkout = makeCheckout();
  const victim = join(checkout.folder, "victim");
  writeFileSync(victim, "precious\n");
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const inside = await sandbox.getPath();
  shell(
    inside,
    `echo more > more; git add -A; git commit -qm inside; g=$(git rev-parse --git-dir)
     mkdir -p "$(dirname "$g/${file}")"; echo '${line.replace("VICTIM", victim)}' > "$g/${file}"`,
  );
  await sandbox.diff();
  await sandbox.checkpoint("kept").catch(() => undefined);
  await sandbox.commit().catch(() => undefined);
  expect(readFileSync(victim, "utf8")).toBe("precious\n");
});

test("a link or pipe in place of a file of the worktree's git directory is neither written through nor waited for (R239)", async () => {
  const checkout = makeCheckout();
  const victim = join(checkout.folder, "victim");
  writeFileSync(victim, "precious\n");
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const inside = await sandbox.getPath();
  const merged = git(checkout.root, "rev-parse", "HEAD");
  shell(inside, `echo ${merged} > "$(git rev-parse --git-dir)/MERGE_HEAD"`);
  await sandbox.checkpoint("merging");
  shell(inside, `ln -sf ${victim} "$(git rev-parse --git-dir)/MERGE_HEAD"`);
  await sandbox.restoreCheckpoint("merging");
  expect(readFileSync(victim, "utf8")).toBe("precious\n");
  shell(
    inside,
    `g=$(git rev-parse --git-dir); rm "$g/MERGE_HEAD"
     mkdir "$g/rebase-merge" "$g/sequencer"; mkfifo "$g/MERGE_HEAD" "$g/rebase-merge/orig-head" "$g/sequencer/todo"`,
  );
  expect((await sandbox.diff()).isEmpty).toBe(true);
  shell(inside, `g=$(git rev-parse --git-dir); rm "$g/index"; mkfifo "$g/index"`);
  await expect(sandbox.diff()).rejects.toBeInstanceOf(SandboxError);
});

test("the index of another repository is not written through a link (R239)", async () => {
  const checkout = makeCheckout();
  shell(
    checkout.folder,
    "git init -q other; cd other; echo s > s; git add s; git -c user.name=t -c user.email=t@t.invalid commit -qm s; echo t >> s; git add s",
  );
  const status = (): string => git(join(checkout.folder, "other"), "status", "--porcelain");
  const before = status();
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  await sandbox.write("a.txt", "edited\n");
  await sandbox.write("b.txt", "edited\n");
  shell(
    await sandbox.getPath(),
    `g=$(git rev-parse --git-dir); ln -sf ${checkout.folder}/other/.git/index "$g/index"`,
  );
  await sandbox.drop(["a.txt"]).catch(() => undefined);
  expect(status()).toBe(before);
});

test("an index that git has not written puts nothing into the git directory of another repository (R239)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "echo nested >> .git/info/exclude; git init -q nested");
  await using bench = await openGit(checkout);
  const { sandbox } = bench;
  const inside = await sandbox.getPath();
  shell(
    inside,
    `mkdir -p nested/xgit/hooks; echo 'touch marker' > nested/xgit/hooks/pre-push; chmod 755 nested/xgit/hooks/pre-push
     git add -f nested/xgit/hooks/pre-push; git update-index --assume-unchanged nested/xgit/hooks/pre-push; rm -r nested`,
  );
  const index = shell(inside, "git rev-parse --git-path index").trim();
  const content = readFileSync(index);
  const at = content.indexOf("nested/xgit/");
  content.write("nested/.git/", at);
  // Git takes an index without extensions, and trusts its sum.
  const entries = content.subarray(0, content.length - 20);
  const cut = entries.indexOf("TREE");
  const body = cut < 0 ? entries : entries.subarray(0, cut);
  writeFileSync(index, Buffer.concat([body, createHash("sha1").update(body).digest()]));
  const refused = { code: "SANDBOX_COMMIT", data: { reason: "name" } };
  await expect(sandbox.diff()).rejects.toMatchObject(refused);
  await expect(sandbox.commit()).rejects.toMatchObject(refused);
  expect(readdirSync(join(root, "nested/.git/hooks"))).not.toContain("pre-push");
});

test("a pipe or link in place of a log is neither waited for nor written through (R239)", async () => {
  const checkout = makeCheckout();
  const { root, folder } = checkout;
  const victim = join(folder, "victim");
  writeFileSync(victim, "precious\n");
  await using bench = await openGit(checkout);
  await bench.sandbox.write("a.txt", "edited\n");
  const branch = git(root, "symbolic-ref", "HEAD");
  shell(
    root,
    `rm .git/logs/HEAD .git/logs/${branch}; mkfifo .git/logs/HEAD; ln -s ${victim} .git/logs/${branch}`,
  );
  await bench.sandbox.commit({ message: "mine" });
  expect(git(root, "log", "-1", "--format=%s")).toBe("mine");
  expect(readFileSync(victim, "utf8")).toBe("precious\n");
});

test("a branch of ours that a program lets name another one moves alone (R239)", async () => {
  const checkout = makeCheckout();
  const { root } = checkout;
  shell(root, "git branch release; git commit -q --allow-empty -m later");
  const release = git(root, "rev-parse", "release");
  await using bench = await openGit(checkout);
  const inside = await bench.sandbox.getPath();
  shell(inside, `git symbolic-ref "$(git symbolic-ref HEAD)" refs/heads/release`);
  await bench.sandbox.rollback();
  expect(git(root, "rev-parse", "release")).toBe(release);
  await bench.sandbox.write("a.txt", "edited\n");
  await bench.sandbox.commit({ message: "mine" });
  expect(git(root, "rev-parse", "release")).toBe(release);
});
