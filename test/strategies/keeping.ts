import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { editSample, makeSample } from "./sample.ts";
import { identities, run, shell } from "./shell.ts";
import { type Subject, openBench } from "./subjects.ts";

/** Checkpoints of a sandbox against its resource and against a plain copy. */
export function testKeeping(subjects: readonly Subject[]): void {
  describe.each(subjects)("$name", (subject) => {
    test("checkpoints never touch the resource, and a commit publishes the restored state (R201, R209)", async () => {
      const folder = tempFolder();
      const [real, plain] = [join(folder, "real"), join(folder, "plain")];
      makeSample(real);
      const before = identities(real);
      await using bench = await openBench(subject, real, join(folder, "state"));
      const { sandbox } = bench;
      editSample(await sandbox.getPath());
      await sandbox.checkpoint("edited");
      run("cp", ["-a", await sandbox.getPath(), plain]);
      shell(await sandbox.getPath(), "printf more >> new; rm -r n; ln -sfn d link; chmod 0640 b");
      await sandbox.checkpoint("more");
      await sandbox.restoreCheckpoint("edited");
      expect(identities(real)).toEqual(before);
      expectOracleEqual(takeOracle(plain), takeOracle(await sandbox.getPath()));
      await sandbox.commit();
      expectOracleEqual(takeOracle(plain), takeOracle(real));
    });
  });
}

/** Many checkpoints of one sandbox, and those from before a commit. */
export function testHistory(subjects: readonly Subject[]): void {
  describe.each(subjects)("$name", (subject) => {
    test("checkpoints made one after the other are independent of each other", async () => {
      const folder = tempFolder();
      const [real, kept] = [join(folder, "real"), join(folder, "kept")];
      mkdirSync(real);
      mkdirSync(kept);
      for (let at = 0; at < 8; at++) writeFileSync(join(real, `f${at}`), `${at}\n`);
      shell(real, "ln f0 twin; mkdir d; printf in > d/in");
      await using bench = await openBench(subject, real, join(folder, "state"));
      const { sandbox } = bench;
      // Each keeps most files of the one before; every way of changing a file must part them.
      const edits = [
        "printf first > f1",
        "printf more >> f1; printf x | dd of=f2 conv=notrunc status=none",
        "truncate -s 1 f3; chmod 0600 f4; rm f5; mv f6 moved",
        "setfattr -n user.note -v new f7; touch -d 2001-02-03 f0; printf again > f5",
        "rm -r d; mkdir d; printf other > d/in",
      ];
      for (const [at, edit] of edits.entries()) {
        shell(await sandbox.getPath(), edit);
        await sandbox.checkpoint(`c${at}`);
        run("cp", ["-a", await sandbox.getPath(), join(kept, `c${at}`)]);
      }
      for (const at of [1, 4, 0, 3, 2]) {
        await sandbox.restoreCheckpoint(`c${at}`);
        const expected = takeOracle(join(kept, `c${at}`));
        expectOracleEqual(expected, takeOracle(await sandbox.getPath()));
        // What was restored is worked on, and kept again, without reaching the other checkpoints.
        shell(await sandbox.getPath(), "for f in f* d/in; do printf dirt >> $f; done");
        await sandbox.checkpoint(`after-${at}`);
      }
      await sandbox.deleteCheckpoint("c0");
      await sandbox.deleteCheckpoint("after-2");
      for (const at of [4, 1, 2, 3]) {
        await sandbox.restoreCheckpoint(`c${at}`);
        const expected = takeOracle(join(kept, `c${at}`));
        expectOracleEqual(expected, takeOracle(await sandbox.getPath()));
      }
    });

    test("a checkpoint made before a commit can be committed after the undo", async () => {
      const folder = tempFolder();
      const real = join(folder, "real");
      makeSample(real);
      const before = takeOracle(real);
      await using bench = await openBench(subject, real, join(folder, "state"));
      const { sandbox } = bench;
      editSample(await sandbox.getPath());
      await sandbox.checkpoint("edited");
      const shown = takeOracle(await sandbox.getPath());
      for (const undo of [() => sandbox.undoCommit(), () => sandbox.rollback()]) {
        await sandbox.commit();
        expectOracleEqual(shown, takeOracle(real));
        await undo();
        expectOracleEqual(before, takeOracle(real));
        await sandbox.restoreCheckpoint("edited");
      }
      await sandbox.commit();
      expectOracleEqual(shown, takeOracle(real));
    });
  });
}
