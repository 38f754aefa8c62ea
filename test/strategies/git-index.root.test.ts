import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { shell } from "./shell.ts";
import { KERNEL, PLAIN, openBench } from "./subjects.ts";

const IDENTITY = "git config user.name t; git config user.email t@example.invalid";

function makeRepository(folder: string): string {
  const real = join(folder, "real");
  shell(
    folder,
    `git init -q real; cd real; ${IDENTITY}; echo one > a; git add a; git commit -qm 1`,
  );
  return real;
}

describe.each([...PLAIN, KERNEL])("$name", (subject) => {
  test("an index that git only refreshed does not stand in the way of an undo (R33)", async () => {
    const folder = tempFolder();
    const real = makeRepository(folder);
    const before = takeOracle(real);
    await using bench = await openBench(subject, real, join(folder, "state"));
    const { sandbox } = bench;
    const workspace = await sandbox.getPath();
    shell(workspace, "echo two > a; echo new > b; git add -A; git commit -qm 2");
    await sandbox.commit();
    const published = statSync(join(real, ".git/index")).ino;
    expect(shell(real, "git status --porcelain")).toBe("");
    expect(statSync(join(real, ".git/index")).ino).not.toBe(published);
    await sandbox.undoCommit();
    expectOracleEqual(before, takeOracle(real));
    expect(shell(await sandbox.getPath(), "git status --porcelain; git log --format=%s")).toBe(
      "2\n1\n",
    );
    await sandbox.commit();
    expect(shell(real, "git status --porcelain; git log --format=%s")).toBe("2\n1\n");
  });

  test("an index with another entry is somebody's work and refuses the undo (R33)", async () => {
    const folder = tempFolder();
    const real = makeRepository(folder);
    await using bench = await openBench(subject, real, join(folder, "state"));
    const { sandbox } = bench;
    shell(await sandbox.getPath(), "echo two > a; git commit -qam 2");
    await sandbox.commit();
    shell(real, "echo mine > c; git add c");
    await expect(sandbox.undoCommit()).rejects.toMatchObject({
      code: "SANDBOX_ROLLBACK",
      data: { reason: "foreignEdits", paths: [".git/index"] },
    });
    expect(shell(real, "git status --porcelain; cat a")).toBe("A  c\ntwo\n");
  });
});
