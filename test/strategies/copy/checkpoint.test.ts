import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { shell } from "../shell.ts";
import { COPIES, openBench } from "../subjects.ts";

it.each(COPIES)(
  "removes what a failed checkpoint in $name has built, and makes it later (R262)",
  async (subject) => {
    const folder = tempFolder();
    const real = join(folder, "real");
    mkdirSync(real);
    shell(real, "echo old >file");
    await using bench = await openBench(subject, real, join(folder, "state"));
    const { sandbox, directory } = bench;
    const workspace = await sandbox.getPath();
    shell(workspace, "echo edited >file");
    const edited = takeOracle(workspace);
    const manifest = join(workspace, "../manifest");
    renameSync(manifest, `${manifest}.away`);
    await expect(sandbox.checkpoint("kept")).rejects.toMatchObject({
      code: "CHECKPOINT",
      data: { reason: "failed" },
      cause: { code: "ENOENT" },
    });
    expect(shell(directory, "find . -name 'b-*' -o -name 'c-*'")).toBe("");
    renameSync(`${manifest}.away`, manifest);
    await sandbox.checkpoint("kept");
    shell(workspace, "rm file");
    await sandbox.restoreCheckpoint("kept");
    expectOracleEqual(edited, takeOracle(await sandbox.getPath()));
  },
);
