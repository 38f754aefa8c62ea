import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { InsufficientSpaceError, openCofferdam } from "../../src/index.ts";
import { runChild } from "../support/child.ts";
import { mountFileSystem } from "../support/loop.ts";
import { ordinaryUser, runAs } from "../support/privilege.ts";
import { tempFolder } from "../support/temp.ts";
import { COPIES, ISOLATING, openSite, shell } from "./subjects.ts";

for (const subject of ISOLATING) {
  test(`${subject.name}: undo data costs what changed, not what there is (R241)`, async () => {
    await using site = await openSite(
      "for i in $(seq 1 300); do printf x > f$i; done; truncate -s 10G untouched; head -c 100000 /dev/urandom > edited",
    );
    const sandbox = await site.sandbox(subject);
    appendFileSync(join(await sandbox.getPath(), "edited"), "more");
    await sandbox.commit();
    const stages = execFileSync("find", [site.state, "-type", "d", "-name", "tx-*"], {
      encoding: "utf8",
    })
      .trim()
      .split("\n");
    expect(stages).toHaveLength(1);
    const [bytes = ""] = execFileSync("du", ["-sb", "--", stages[0]!], { encoding: "utf8" }).split(
      "\t",
    );
    expect(Number(bytes)).toBeGreaterThanOrEqual(100_000);
    expect(Number(bytes)).toBeLessThan(200_000 + 65_536);
    await sandbox.cleanup();
  });
}

test("a rollback renames kept files back and copies no data (R246)", async () => {
  const folder = tempFolder();
  execFileSync("bash", ["-c", "mkdir real && head -c 8000000 /dev/urandom > real/big"], {
    cwd: folder,
  });
  const run = await runChild(
    new URL("./programs/commit-and-roll-back.ts", import.meta.url),
    [folder],
    {
      wrapper: [
        "strace",
        "-f",
        "-o",
        join(folder, "trace"),
        "-e",
        "trace=write,pwrite64,copy_file_range,sendfile",
      ],
    },
  );
  expect(run).toMatchObject({ code: 0 });
  const calls = readFileSync(join(folder, "trace"), "latin1").split("\n");
  const mark = calls.findIndex((line) => line.includes("rolling back"));
  const bytes = calls
    .slice(mark + 1)
    .map((line) => Number(/ = (\d+)$/.exec(line)?.[1] ?? 0))
    .reduce((sum, count) => sum + count, 0);
  expect(mark).toBeGreaterThan(0);
  // Records and messages only; the file has eight million bytes.
  expect(bytes).toBeLessThan(1_000_000);
});

test("a reader sees the old file or the new one, never a part (R194)", async () => {
  await using site = await openSite("head -c 300000 /dev/zero | tr '\\\\0' a > file");
  const [old, fresh] = [Buffer.alloc(300_000, "a"), Buffer.alloc(300_000, "b")];
  writeFileSync(join(site.real, "file"), old);
  for (let round = 0; round < 5; round++) {
    const sandbox = await site.sandbox({ name: "overlay", strategy: "overlay" });
    await sandbox.write("file", fresh);
    const progress = { isFinished: false };
    const committed = sandbox.commit().finally(() => {
      progress.isFinished = true;
    });
    let reads = 0;
    while (!progress.isFinished) {
      const seen = readFileSync(join(site.real, "file"));
      expect(seen.equals(old) || seen.equals(fresh)).toBe(true);
      reads++;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await committed;
    expect(reads).toBeGreaterThan(0);
    expect(readFileSync(join(site.real, "file")).equals(fresh)).toBe(true);
    await sandbox.rollback();
    await sandbox.cleanup();
  }
});

for (const subject of COPIES) {
  test(`${subject.name}: too little room is told before anything is copied (R248)`, async () => {
    await using disk = mountFileSystem("tmpfs", { megabytes: 64 });
    shell(disk.mountPoint, "mkdir real; head -c 40000000 /dev/urandom > real/big");
    await using coffer = await openCofferdam({
      stateDirectory: join(disk.mountPoint, "state"),
      config: false,
    });
    const resource = {
      resourceId: "r",
      type: "fs-directory",
      location: join(disk.mountPoint, "real"),
    };
    const attempt = coffer.create("plan", resource, { strategy: subject.strategy });
    await expect(attempt).rejects.toBeInstanceOf(InsufficientSpaceError);
    expect(shell(disk.mountPoint, "find state -name big")).toBe("");
    expect(await coffer.list()).toEqual([]);
  });
}

test("a file that may not be read is an error and never counts as unchanged (R193)", async () => {
  const user = ordinaryUser();
  const { home } = user;
  runAs(user, "bash", ["-c", "mkdir real && printf x > real/a && printf y > real/closed"]);
  const run = await runChild(new URL("./programs/unreadable.ts", import.meta.url), [home], {
    uid: user.uid,
    env: user.env,
  });
  expect(run.stderr).toBe("");
  expect(JSON.parse(run.stdout)).toEqual({ create: "SANDBOX_CREATION", diff: "SANDBOX_PATH" });
});
