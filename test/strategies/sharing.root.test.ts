import { openSync, closeSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { testSharing } from "./sharing.ts";
import { KERNEL, openBench } from "./subjects.ts";

testSharing([KERNEL]);

test("an overlay is not published while somebody has a file in it open (R197)", async () => {
  const folder = tempFolder();
  const real = join(folder, "real");
  mkdirSync(real);
  writeFileSync(join(real, "log"), "old\n");
  const before = takeOracle(real);
  await using bench = await openBench(KERNEL, real, join(folder, "state"));
  const { sandbox } = bench;
  const fd = openSync(join(await sandbox.getPath(), "log"), "a");
  try {
    writeFileSync(fd, "edit\n");
    await expect(sandbox.commit()).rejects.toMatchObject({ data: { originalRestored: true } });
    expectOracleEqual(before, takeOracle(real));
    expect((await sandbox.describe()).status).toBe("ACTIVE");
  } finally {
    closeSync(fd);
  }
  expect((await sandbox.commit()).changed).toEqual(["log"]);
});
