import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { editSample, makeSample } from "./sample.ts";
import { run as runProgram } from "./shell.ts";
import { type Subject, openBench } from "./subjects.ts";

function run(folder: string, script: string): string {
  return runProgram("sh", ["-euc", script], folder);
}

/** What a rollback after a commit gives back. */
export function testRollingBack(title: string, subjects: readonly Subject[]): void {
  describe.each(subjects)("$name", (subject) => {
    test(title, async () => {
      const folder = tempFolder();
      const real = join(folder, "real");
      makeSample(real);
      const before = takeOracle(real);
      await using bench = await openBench(subject, real, join(folder, "state"));
      const { sandbox } = bench;
      editSample(await sandbox.getPath());
      const shown = takeOracle(await sandbox.getPath());
      await sandbox.commit();
      expectOracleEqual(shown, takeOracle(real));
      await sandbox.rollback();
      expectOracleEqual(before, takeOracle(real));
      expect((await sandbox.describe()).status).toBe("ROLLED_BACK");
      expectOracleEqual(before, takeOracle(await sandbox.getPath()));
      expect(Buffer.from(await sandbox.read("a")).toString()).toBe("a\n");
      expect((await sandbox.diff()).changes).toEqual([]);
      await sandbox.write("only", "this");
      const second = await sandbox.commit();
      expect([second.added, second.changed, second.deleted]).toEqual([["only"], [], []]);
    });

    test("commits hard links a second time after they were taken back, and later edits of their files", async () => {
      const folder = tempFolder();
      const real = join(folder, "real");
      run(folder, "mkdir real; echo 1 > real/p; ln real/p real/q");
      const before = takeOracle(real);
      await using bench = await openBench(subject, real, join(folder, "state"));
      const { sandbox } = bench;
      run(await sandbox.getPath(), "rm p; echo 2 > p; ln q r; mkdir d; ln q d/t");
      const shown = takeOracle(await sandbox.getPath());
      await sandbox.commit();
      await sandbox.undoCommit();
      expectOracleEqual(before, takeOracle(real));
      await sandbox.commit();
      expectOracleEqual(shown, takeOracle(real));
      await sandbox.undoCommit();
      run(await sandbox.getPath(), "rm q; echo 3 > q");
      await sandbox.commit();
      expect(run(real, "cat p q d/t")).toBe("2\n3\n1\n");
    });
  });
}
