import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SandboxConflictError } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { shell } from "./shell.ts";
import { PLAIN, openBench } from "./subjects.ts";

const IDENTITY = "git config user.name t; git config user.email t@example.invalid";

function makeRepository(folder: string): string {
  shell(
    folder,
    `mkdir real; git init -q real/in; cd real/in; ${IDENTITY}; echo one > a; git add a; git commit -qm 1`,
  );
  return join(folder, "real");
}

describe.each(PLAIN)("$name", (subject) => {
  test("refuses to publish into a repository that git holds, and does it once git is done", async () => {
    const folder = tempFolder();
    const real = makeRepository(folder);
    await using bench = await openBench(subject, real, join(folder, "state"));
    const { sandbox } = bench;
    shell(join(await sandbox.getPath(), "in"), "echo two > a; git commit -qam 2");
    shell(real, ": > in/.git/index.lock");
    const before = takeOracle(real);
    const attempt = sandbox.commit();
    await expect(attempt).rejects.toBeInstanceOf(SandboxConflictError);
    await expect(attempt).rejects.toMatchObject({
      data: { conflicts: [{ path: "in/.git/index.lock", reason: "locked" }] },
    });
    expectOracleEqual(before, takeOracle(real));
    shell(real, "rm in/.git/index.lock");
    await sandbox.commit();
    expect(shell(real, "cd in; git status --porcelain; git log --format=%s")).toBe("2\n1\n");
  });

  test("keeps lock files of the sandbox's own git to itself", async () => {
    const folder = tempFolder();
    const real = makeRepository(folder);
    await using bench = await openBench(subject, real, join(folder, "state"));
    const { sandbox } = bench;
    const locks = ".git/index.lock .git/refs/heads/x.lock .git/gc.pid .git/fsmonitor--daemon.ipc";
    shell(join(await sandbox.getPath(), "in"), `touch ${locks} own.lock; echo two > a`);
    const { added, changed, warnings } = await sandbox.commit();
    expect([added, changed]).toEqual([["in/own.lock"], ["in/a"]]);
    expect(warnings).toHaveLength(1);
    expect(shell(real, `cd in; ls ${locks} 2> /dev/null || true`)).toBe("");
  });

  test("leaves the real index alone when git only refreshed the sandbox's", async () => {
    const folder = tempFolder();
    const real = makeRepository(folder);
    await using bench = await openBench(subject, real, join(folder, "state"));
    const { sandbox } = bench;
    const index = statSync(join(real, "in/.git/index")).ino;
    shell(
      join(await sandbox.getPath(), "in"),
      "touch -d '2001-02-03 04:05:06' a; git status --porcelain; echo new > b",
    );
    const { added, changed } = await sandbox.commit();
    expect([added, changed]).toEqual([["in/b"], ["in/a"]]);
    expect(statSync(join(real, "in/.git/index")).ino).toBe(index);
  });
});
