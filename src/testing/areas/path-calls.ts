import assert from "node:assert/strict";
import { SandboxPathError } from "../../index.ts";
import type { AreaRules } from "../area.ts";
import { rejectsWith } from "../assertions.ts";
import { ISOLATED, WITH_PATH, WITH_PATH_CALLS } from "../needs.ts";

/** The calls that know more than files: a directory for programs, listing, removing, renaming. */
export const PATH_CALLS: AreaRules = {
  name: "path calls",
  rules: [
    {
      title: "gives programs a directory with everything in it and counts as active then (R13)",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const original = await trial.original();
        const ref = await trial.create();
        const text = await trial.run(ref, "cat a.txt deep/er/leaf.txt; readlink link-to-docs");
        assert.equal(text, "alpha\nbeta\ngamma\nleaf\ndocs\n");
        assert.equal(await trial.status(ref), "ACTIVE");
        const workspace = await trial.workspace(ref);
        assert.deepEqual([...workspace.keys()], [...original.keys()]);
      },
    },
    {
      title: "gives a path again after a rollback and counts as active then (R13)",
      needs: [ISOLATED, WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "printf 'edit\\n' > a.txt");
        await trial.strategy.rollback(ref);
        assert.equal(await trial.status(ref), "ROLLED_BACK");
        assert.equal(await trial.run(ref, "cat a.txt"), "alpha\nbeta\ngamma\n");
        assert.equal(await trial.status(ref), "ACTIVE");
      },
    },
    {
      title: "gives the path of one entry inside the directory (R13)",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        const root = await trial.strategy.getPath!(ref);
        assert.equal(await trial.strategy.getPath!(ref, "docs/guide.md"), `${root}/docs/guide.md`);
        assert.equal(await trial.strategy.getPath!(ref, "./docs//"), `${root}/docs`);
      },
    },
    {
      title: "lists the entries of a folder with their types",
      needs: [WITH_PATH_CALLS],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "docs/new.md", "new\n");
        const listed = await trial.strategy.list!(ref, "docs");
        assert.deepEqual(
          listed.map(({ name, type }) => [name, type]),
          trial
            .known({ empty: "directory", "guide.md": "file", "new.md": "file", "other.md": "file" })
            .map((name) => [name, name === "empty" ? "directory" : "file"]),
        );
        const top = await trial.strategy.list!(ref, "");
        assert.deepEqual(
          top.filter(({ name }) => name === "link" || name === "docs"),
          [
            { name: "docs", type: "directory" },
            ...trial.known({ link: "symlink" }).map((name) => ({ name, type: "symlink" })),
          ],
        );
        await rejectsWith(SandboxPathError, () => trial.strategy.list!(ref, "missing"));
        await rejectsWith(SandboxPathError, () => trial.strategy.list!(ref, "a.txt"));
      },
    },
    {
      title: "removes a file, a link and a folder with what is in it (R12)",
      needs: [WITH_PATH_CALLS],
      prove: async (trial) => {
        const ref = await trial.create();
        for (const path of ["a.txt", "deep", ...trial.known({ "link-to-docs": "symlink" })]) {
          await trial.strategy.remove!(ref, path);
        }
        assert.equal(await trial.status(ref), "ACTIVE");
        const { changes } = await trial.strategy.diff(ref);
        assert.deepEqual(
          changes.map(({ path, kind }) => [path, kind]),
          trial
            .known({
              "a.txt": "file",
              deep: "directory",
              "deep/er": "directory",
              "deep/er/leaf.txt": "file",
              "link-to-docs": "symlink",
            })
            .map((path) => [path, "deleted"]),
        );
        await rejectsWith(SandboxPathError, () => trial.strategy.read(ref, "deep/er/leaf.txt"));
        await rejectsWith(SandboxPathError, () => trial.strategy.remove!(ref, "a.txt"));
      },
    },
    {
      title: "renames files and folders, and never over something that is there (R12)",
      needs: [WITH_PATH_CALLS],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.rename!(ref, "a.txt", "moved/b.txt");
        await trial.strategy.rename!(ref, "deep/er", "docs/er");
        assert.equal(await trial.readText(ref, "moved/b.txt"), "alpha\nbeta\ngamma\n");
        assert.equal(await trial.readText(ref, "docs/er/leaf.txt"), "leaf\n");
        const { changes } = await trial.strategy.diff(ref);
        assert.deepEqual(
          changes.filter(({ kind }) => kind === "deleted").map(({ path }) => path),
          trial.known({ "a.txt": "file", "deep/er": "directory", "deep/er/leaf.txt": "file" }),
        );
        await rejectsWith(SandboxPathError, () =>
          trial.strategy.rename!(ref, "private", "docs/guide.md"),
        );
        await rejectsWith(SandboxPathError, () => trial.strategy.rename!(ref, "a.txt", "c.txt"));
        assert.equal(await trial.readText(ref, "docs/guide.md"), "# Guide\n");
      },
    },
  ],
};
