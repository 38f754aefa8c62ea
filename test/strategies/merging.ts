import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { SandboxConflictError } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { shell } from "./shell.ts";
import { type Subject, openBench } from "./subjects.ts";
import { BOTH, BOTTOM, TEXT, TOP, textSite } from "./text-site.ts";

const read = (real: string): string => readFileSync(join(real, "text"), "utf8");

/** The reasons of a refused commit, by path. */
async function refusal(commit: Promise<unknown>): Promise<Record<string, string>> {
  const error: unknown = await commit.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SandboxConflictError);
  const { code, data } = error as SandboxConflictError;
  expect([code, data.originalRestored]).toEqual(["SANDBOX_CONFLICT", true]);
  return Object.fromEntries(data.conflicts.map(({ path, reason }) => [path, reason]));
}

const kept = (subject: Subject): Subject => ({
  ...subject,
  properties: { ...subject.properties, base: "keep" },
});

/** What a sandbox does when both sides changed the same files. */
export function testMerging(subjects: readonly Subject[]): void {
  describe.each(subjects)("$name", (subject) => {
    test("refuses what both sides changed by name, and lets edits of others alone (R43)", async () => {
      const { real, state } = textSite();
      await using bench = await openBench(subject, real, state);
      const { sandbox } = bench;
      const workspace = await sandbox.getPath();
      writeFileSync(join(workspace, "text"), BOTTOM);
      writeFileSync(join(workspace, "new"), "new\n");
      writeFileSync(join(real, "text"), TOP);
      writeFileSync(join(real, "other"), "edited outside\n");
      const before = takeOracle(real);
      expect(await refusal(sandbox.commit())).toEqual({ text: "changed" });
      expectOracleEqual(before, takeOracle(real));
      expect((await sandbox.describe()).status).toBe("ACTIVE");
      await sandbox.remove("text");
      expect(await refusal(sandbox.commit())).toEqual({ text: "changed" });
      await sandbox.rollback();
      await sandbox.write("new", "new\n");
      const result = await sandbox.commit();
      expect(result.added).toEqual(["new"]);
      expect(shell(real, "cat other")).toBe("edited outside\n");
    });

    test("merges what was written through the library with edits elsewhere in the file (R44)", async () => {
      const { real, state } = textSite();
      await using bench = await openBench(subject, real, state);
      await bench.sandbox.write("text", BOTTOM);
      writeFileSync(join(real, "text"), TOP);
      shell(real, "chmod 0600 text");
      const { changed } = await bench.sandbox.commit({ merge: true });
      expect(changed).toEqual(["text"]);
      expect(read(real)).toBe(BOTH);
      expect(shell(real, "stat -c %a text")).toBe("600\n");
      const { directory } = bench;
      expect(shell(directory, "find . -name merged")).toBe("");
      await bench.sandbox.rollback();
      expect(read(real)).toBe(TOP);
    });

    test("leaves overlapping edits alone (R44)", async () => {
      const { real, state } = textSite();
      await using bench = await openBench(subject, real, state);
      await bench.sandbox.write("text", `mine\n${TEXT}`);
      writeFileSync(join(real, "text"), TOP);
      const before = takeOracle(real);
      expect(await refusal(bench.sandbox.commit({ merge: true }))).toEqual({ text: "overlap" });
      expectOracleEqual(before, takeOracle(real));
    });

    test("merges edits of programs only with a kept base (R44)", async () => {
      const { real, state } = textSite();
      {
        await using bench = await openBench(subject, real, state);
        appendFileSync(join(await bench.sandbox.getPath(), "text"), "bottom\n");
        writeFileSync(join(real, "text"), TOP);
        const attempt = bench.sandbox.commit({ merge: true });
        expect(await refusal(attempt)).toEqual({ text: "noAncestor" });
        expect(read(real)).toBe(TOP);
        writeFileSync(join(real, "text"), TEXT);
      }
      await using bench = await openBench(kept(subject), real, state);
      appendFileSync(join(await bench.sandbox.getPath(), "text"), "bottom\n");
      writeFileSync(join(real, "text"), TOP);
      await bench.sandbox.commit({ merge: true });
      expect(read(real)).toBe(BOTH);
    });

    test("never takes somebody's edit for the ancestor, however late the sandbox writes", async () => {
      const { real, state } = textSite();
      await using bench = await openBench(subject, real, state);
      writeFileSync(join(real, "text"), TOP);
      await bench.sandbox.write("text", BOTTOM);
      const attempt = bench.sandbox.commit({ merge: true });
      expect(await refusal(attempt)).toEqual({ text: "noAncestor" });
      expect(read(real)).toBe(TOP);
    });

    test("forgets ancestors with the base that they belong to", async () => {
      const { real, state } = textSite();
      await using bench = await openBench(kept(subject), real, state);
      const { sandbox } = bench;
      await sandbox.write("text", BOTTOM);
      writeFileSync(join(real, "text"), TOP);
      // From here on the base begins with "top": to take that line out again is somebody's edit, not the old state.
      await sandbox.rollback();
      await sandbox.write("text", BOTH);
      writeFileSync(join(real, "text"), TEXT);
      await sandbox.commit({ merge: true });
      expect(read(real)).toBe(BOTTOM);
    });

    test("an undone merge leaves the conflict as it was", async () => {
      const { real, state } = textSite();
      await using bench = await openBench(subject, real, state);
      const { sandbox } = bench;
      await sandbox.write("text", BOTTOM);
      writeFileSync(join(real, "text"), TOP);
      await sandbox.commit({ merge: true });
      await sandbox.undoCommit();
      expect(read(real)).toBe(TOP);
      expect(await refusal(sandbox.commit())).toEqual({ text: "changed" });
      expect(read(real)).toBe(TOP);
      await sandbox.commit({ merge: true });
      expect(read(real)).toBe(BOTH);
    });

    test("a checkpoint keeps the ancestors of its own base", async () => {
      const { real, state } = textSite();
      await using bench = await openBench(kept(subject), real, state);
      const { sandbox } = bench;
      await sandbox.write("text", BOTTOM);
      await sandbox.checkpoint("one");
      writeFileSync(join(real, "text"), TOP);
      await sandbox.rollback();
      await sandbox.restoreCheckpoint("one");
      await sandbox.commit({ merge: true });
      expect(read(real)).toBe(BOTH);
    });
  });
}
