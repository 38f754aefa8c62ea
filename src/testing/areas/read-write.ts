import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { SandboxPathError } from "../../index.ts";
import type { AreaRules } from "../area.ts";
import { rejectsWith } from "../assertions.ts";
import { WITH_PATH, WITH_TREE } from "../needs.ts";
import { ALL_BYTES, SAMPLE_TREE } from "../sample-tree.ts";
import { octal } from "../octal.ts";

const sha256 = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("hex");

/** Files through `read` and `write`. */
export const READ_WRITE: AreaRules = {
  name: "read and write",
  rules: [
    {
      title: "reads the exact bytes of files that nobody changed (R5)",
      prove: async (trial) => {
        const ref = await trial.create();
        assert.deepEqual(Buffer.from(await trial.strategy.read(ref, "data.bin")), bytes(ALL_BYTES));
        assert.equal((await trial.strategy.read(ref, "zero")).length, 0);
        assert.equal(await trial.readText(ref, "deep/er/leaf.txt"), "leaf\n");
      },
    },
    {
      title: "reads back the exact bytes that were written (R5)",
      prove: async (trial) => {
        const ref = await trial.create();
        const { strategy } = trial;
        await strategy.write(ref, "a.txt", ALL_BYTES);
        await strategy.write(ref, "data.bin", "");
        await strategy.write(ref, "a.txt", ALL_BYTES.subarray(7));
        assert.deepEqual(
          Buffer.from(await strategy.read(ref, "a.txt")),
          bytes(ALL_BYTES.subarray(7)),
        );
        assert.equal((await strategy.read(ref, "data.bin")).length, 0);
      },
    },
    {
      title: "reads what a program wrote (R5)",
      needs: [WITH_PATH],
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.run(ref, "printf 'by a program\\n' > a.txt; printf 'new\\n' > docs/new.md");
        assert.equal(await trial.readText(ref, "a.txt"), "by a program\n");
        assert.equal(await trial.readText(ref, "docs/new.md"), "new\n");
      },
    },
    {
      title: "answers a missing name, a folder and a FIFO with a typed error, without waiting (R5)",
      tree: { ...SAMPLE_TREE, pipe: { fifo: true } },
      prove: async (trial) => {
        const ref = await trial.create();
        for (const path of ["missing", "docs/missing", "docs", "a.txt/below", "pipe"]) {
          await rejectsWith(SandboxPathError, () => trial.strategy.read(ref, path));
        }
      },
    },
    {
      title: "tells for a write what was there before and after (R6)",
      prove: async (trial) => {
        const ref = await trial.create();
        const added = await trial.strategy.write(ref, "fresh.txt", "fresh\n");
        assert.equal(added.path, "fresh.txt");
        assert.equal(added.kind, "added");
        assert.equal(added.before, null);
        assert.equal(added.after?.hash, sha256("fresh\n"));
        assert.equal(added.after?.size, 6);
        const modified = await trial.strategy.write(ref, "a.txt", "other\n");
        assert.equal(modified.kind, "modified");
        assert.equal(modified.before?.hash, sha256("alpha\nbeta\ngamma\n"));
        assert.equal(modified.after?.hash, sha256("other\n"));
        assert.ok(modified.at !== undefined && modified.at.endsWith("Z"), "the time is in UTC");
      },
    },
    {
      title: "calls a write of the same bytes unchanged (R6)",
      prove: async (trial) => {
        const ref = await trial.create();
        const same = await trial.strategy.write(ref, "docs/guide.md", "# Guide\n");
        assert.equal(same.kind, "unchanged");
        assert.ok((await trial.strategy.diff(ref)).isEmpty, "the diff stays empty");
      },
    },
    {
      title: "tells the same change in `write` and in the next diff (R7)",
      prove: async (trial) => {
        const ref = await trial.create();
        for (const path of ["a.txt", "fresh.txt"]) {
          const { at: _, ...written } = await trial.strategy.write(ref, path, "other\n");
          const { changes } = await trial.strategy.diff(ref);
          assert.deepEqual(
            changes.find((change) => change.path === path),
            written,
          );
        }
      },
    },
    {
      title: "makes the folders that a written file needs (R6)",
      prove: async (trial) => {
        const ref = await trial.create();
        await trial.strategy.write(ref, "x/y/z.txt", "deep\n");
        assert.equal(await trial.readText(ref, "x/y/z.txt"), "deep\n");
        const { changes } = await trial.strategy.diff(ref);
        assert.deepEqual(
          changes.map(({ path, kind, after }) => [path, kind, after?.type]),
          trial
            .known({ x: "directory", "x/y": "directory", "x/y/z.txt": "file" })
            .map((path) => [path, "added", path.endsWith(".txt") ? "file" : "directory"]),
        );
      },
    },
    {
      title: "keeps the mode of a file whose content is written",
      needs: [WITH_TREE],
      prove: async (trial) => {
        const ref = await trial.create();
        const tool = await trial.strategy.write(ref, "bin/tool", "#!/bin/sh\nexit 1\n");
        const secret = await trial.strategy.write(ref, "private", "changed\n");
        assert.equal(octal(tool.after?.mode), "755");
        assert.equal(octal(secret.after?.mode), "600");
      },
    },
    {
      title: "refuses to write a file in the place of a folder or below a file (R6)",
      prove: async (trial) => {
        const ref = await trial.create();
        for (const path of ["docs", "a.txt/below"]) {
          await rejectsWith(SandboxPathError, () => trial.strategy.write(ref, path, "no\n"));
        }
        assert.ok((await trial.strategy.diff(ref)).isEmpty, "a refused write changes nothing");
      },
    },
  ],
};

function bytes(content: Uint8Array): Buffer {
  return Buffer.from(content);
}
