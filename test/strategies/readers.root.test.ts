import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { shell } from "./shell.ts";
import { COPIES, KERNEL, openBench } from "./subjects.ts";

describe.each([KERNEL, ...COPIES])("$name", (subject) => {
  test("a reader sees the old file or the new one, never a part (R194)", async () => {
    const folder = tempFolder();
    const real = join(folder, "real");
    shell(folder, "mkdir real");
    const [old, fresh] = [Buffer.alloc(300_000, "a"), Buffer.alloc(300_000, "b")];
    writeFileSync(join(real, "file"), old);
    await using bench = await openBench(subject, real, join(folder, "state"));
    const { sandbox } = bench;
    for (let round = 0; round < 3; round++) {
      await sandbox.write("file", fresh);
      const progress = { isFinished: false };
      const committed = sandbox.commit().finally(() => {
        progress.isFinished = true;
      });
      let reads = 0;
      while (!progress.isFinished) {
        const seen = readFileSync(join(real, "file"));
        expect(seen.equals(old) || seen.equals(fresh)).toBe(true);
        reads++;
        await setImmediate();
      }
      await committed;
      expect(reads).toBeGreaterThan(0);
      expect(readFileSync(join(real, "file")).equals(fresh)).toBe(true);
      await sandbox.rollback();
    }
  });
});
