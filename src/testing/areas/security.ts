import assert from "node:assert/strict";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PathEscapeError, SandboxCommitError, SandboxError } from "../../index.ts";
import type { SandboxRef } from "../../index.ts";
import type { AreaRules } from "../area.ts";
import { rejection, rejectsWith, sameEntries } from "../assertions.ts";
import { ISOLATED, WITH_CHECKPOINTS, WITH_PATH } from "../needs.ts";
import { SAMPLE_TREE } from "../sample-tree.ts";
import type { Trial } from "../trial.ts";

const HOSTILE = ["/etc/passwd", "/", "..", "../x", "docs/../../x", "docs/..", "a\0b", "./../x"];
const SECRET = "the secret that never leaves its place 5f1e0c";

/** Every call that takes a path, of those that the strategy has. */
const PATH_CALLS: readonly ((trial: Trial, ref: SandboxRef, path: string) => Promise<unknown>)[] = [
  ({ strategy }, ref, path) => strategy.read(ref, path),
  ({ strategy }, ref, path) => strategy.write(ref, path, "planted\n"),
  ({ strategy }, ref, path) => strategy.getPath?.(ref, path) ?? absent(ref, path),
  ({ strategy }, ref, path) => strategy.list?.(ref, path) ?? absent(ref, path),
  ({ strategy }, ref, path) => strategy.remove?.(ref, path) ?? absent(ref, path),
  ({ strategy }, ref, path) => strategy.rename?.(ref, path, "target") ?? absent(ref, path),
  ({ strategy }, ref, path) => strategy.rename?.(ref, "a.txt", path) ?? absent(ref, path),
];

/** Paths and links that lead out. */
export const SECURITY: AreaRules = {
  name: "paths and links",
  rules: [
    {
      title: "refuses absolute paths, ways up and zero bytes in every call (R227)",
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.original();
        for (const path of HOSTILE) {
          for (const call of PATH_CALLS) {
            await rejectsWith(PathEscapeError, () => call(trial, ref, path));
          }
        }
        sameEntries(await trial.original(), before, "the resource");
        assert.ok((await trial.strategy.diff(ref)).isEmpty, "nothing was written");
      },
    },
    {
      title: "never goes through a link that leads out, whoever made it (R227)",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const outside = await placeSecret(trial);
        await symlink(outside, join(trial.location, "way-out"));
        const ref = await trial.create();
        await trial.run(ref, `ln -s '${outside}' planted; ln -s ../planted docs/inner`);
        for (const way of ["way-out", "planted", "docs/inner"]) {
          for (const call of PATH_CALLS) {
            await refused(() => call(trial, ref, `${way}/secret.txt`));
            await refused(() => call(trial, ref, `${way}/new/file.txt`));
          }
        }
        assert.equal(await readFile(join(outside, "secret.txt"), "utf8"), SECRET);
        assert.equal(await trial.runIn(outside, "ls"), "secret.txt\n");
      },
    },
    {
      title: "neither reads nor replaces what a link to a file outside points to (R227)",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const outside = await placeSecret(trial);
        const ref = await trial.create();
        await trial.run(ref, `ln -s '${outside}/secret.txt' planted`);
        await refused(() => trial.strategy.read(ref, "planted"));
        await refused(() => trial.strategy.write(ref, "planted", "overwritten\n"));
        assert.equal(await readFile(join(outside, "secret.txt"), "utf8"), SECRET);
      },
    },
    {
      title: "keeps an outward link of the resource as text and copies nothing behind it (R229)",
      needs: [ISOLATED, WITH_PATH, WITH_CHECKPOINTS],
      prove: async (trial) => {
        const outside = await placeSecret(trial);
        await symlink(outside, join(trial.location, "way-out"));
        await symlink(join(outside, "secret.txt"), join(trial.location, "docs/secret"));
        const ref = await trial.create();
        await trial.run(ref, "printf 'edit\\n' > docs/guide.md; mv docs/secret docs/moved");
        await trial.run(ref, "mv docs/moved docs/secret");
        await trial.strategy.checkpoint(ref, "kept");
        assert.deepEqual(await trial.privateFilesWith(SECRET), []);
        await trial.strategy.commit(ref);
        assert.deepEqual(await trial.privateFilesWith(SECRET), []);
        const links = await trial.runOutside("readlink way-out docs/secret");
        assert.equal(links, `${outside}\n${outside}/secret.txt\n`);
      },
    },
    {
      title: "shows a new outward link and publishes it only by permission (R230)",
      needs: [ISOLATED, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.originalIdentities();
        await trial.run(ref, "ln -s /etc docs/outward; ln -sfn ../../elsewhere link");
        const { changes } = await trial.strategy.diff(ref);
        assert.deepEqual(
          changes.map(({ path, after }) => [path, after?.target]),
          [
            ["docs/outward", "/etc"],
            ["link", "../../elsewhere"],
          ],
        );
        const { data } = await rejectsWith(SandboxCommitError, () => trial.strategy.commit(ref));
        assert.equal(data.failedPath, "docs/outward");
        sameEntries(await trial.originalIdentities(), before, "the resource after the refusal");
        await trial.strategy.commit(ref, { policy: { outwardLinks: "allow" } });
        const links = await trial.runOutside("readlink docs/outward link");
        assert.equal(links, "/etc\n../../elsewhere\n");
      },
    },
    {
      title: "forgets a new outward link in a rollback (R230)",
      needs: [ISOLATED, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "ln -s /etc docs/outward");
        await trial.strategy.rollback(ref);
        assert.equal(await trial.run(ref, "ls docs"), "empty\nguide.md\nother.md\n");
      },
    },
    {
      title: "publishes a new setuid bit only by permission (R231)",
      needs: [ISOLATED, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        const before = await trial.originalIdentities();
        await trial.run(ref, "chmod 4755 bin/tool");
        const { data } = await rejectsWith(SandboxCommitError, () => trial.strategy.commit(ref));
        assert.equal(data.failedPath, "bin/tool");
        sameEntries(await trial.originalIdentities(), before, "the resource after the refusal");
        await trial.strategy.commit(ref, { policy: { specialBits: "allow" } });
        assert.equal(await trial.runOutside("stat -c %a bin/tool"), "4755\n");
      },
    },
    {
      title: "carries no special bits into copies and keeps those of the resource (R231)",
      needs: [ISOLATED, WITH_PATH, WITH_CHECKPOINTS],
      tree: { ...SAMPLE_TREE, "bin/special": { content: "#!/bin/sh\n", mode: 0o6755 } },
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "printf 'exit 0\\n' >> docs/guide.md");
        await trial.strategy.checkpoint(ref, "kept");
        for (const folder of trial.session.privateFolders) {
          assert.equal(
            await trial.runIn(folder, "find . -xdev ! -readable -prune -o -perm /7000 -print"),
            "",
          );
        }
        await trial.strategy.commit(ref);
        assert.equal(await trial.runOutside("stat -c %a bin/special"), "6755\n");
      },
    },
  ],
};

async function placeSecret(trial: Trial): Promise<string> {
  const folder = await trial.newFolder();
  await writeFile(join(folder, "secret.txt"), SECRET);
  return folder;
}

/** A refusal by an error of the family; which one depends on where the link stands. */
async function refused(call: () => Promise<unknown>): Promise<void> {
  const thrown = await rejection(call);
  assert.ok(thrown instanceof SandboxError, `expected a typed error, not ${String(thrown)}`);
  assert.ok(["PATH_ESCAPE", "SANDBOX_PATH"].includes(thrown.code), thrown.code);
}

/** A call that the strategy does not have counts as refused. */
function absent(ref: SandboxRef, path: string): Promise<never> {
  const data = { requested: path, root: ref.resourceId };
  return Promise.reject(new PathEscapeError("The strategy has no such call", { data }));
}
