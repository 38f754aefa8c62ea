import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Sandbox, SandboxConflictError } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { shell } from "./shell.ts";
import { type Subject, openBench } from "./subjects.ts";
import { BOTH, BOTTOM, TEXT, TOP, textSite } from "./text-site.ts";

/** The changed paths and their kinds. */
async function changesOf(sandbox: Sandbox): Promise<Record<string, string>> {
  const { changes } = await sandbox.diff();
  return Object.fromEntries(changes.map(({ path, kind }) => [path, kind]));
}

/** The reasons of a conflict, by path. */
async function conflicts(call: Promise<unknown>): Promise<Record<string, string>> {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SandboxConflictError);
  const { data } = error as SandboxConflictError;
  return Object.fromEntries(data.conflicts.map(({ path, reason }) => [path, reason]));
}

/** What a copy does when it cannot record what it has taken back. */
export function testFailingRecord(subjects: readonly Subject[]): void {
  test.each(subjects)(
    "$name never merges with a version that is older than the base",
    async (one) => {
      const { real, state } = textSite();
      await using bench = await openBench(one, real, state);
      const { sandbox, directory } = bench;
      await sandbox.write("text", BOTTOM);
      writeFileSync(join(real, "text"), TOP);
      // The file is taken back, and then its base cannot be recorded.
      const inTheWay = shell(directory, "find . -name manifest").trim() + ".new";
      mkdirSync(join(directory, inTheWay));
      await expect(sandbox.drop(["text"])).rejects.toMatchObject({ code: "SANDBOX_PATH" });
      rmdirSync(join(directory, inTheWay));
      await sandbox.write("text", `${TOP}ours\n`);
      writeFileSync(join(real, "text"), `${TEXT}other\n`);
      expect(await conflicts(sandbox.commit({ merge: true }))).toEqual({ text: "noAncestor" });
    },
  );
}

/** What a sandbox does when single edits are taken back and conflicts are settled. */
export function testSettling(subjects: readonly Subject[]): void {
  describe.each(subjects)("$name", (subject) => {
    test("gets the merge of both sides to look at, and publishes it (R44)", async () => {
      const { real, state } = textSite();
      await using bench = await openBench(subject, real, state);
      const { sandbox } = bench;
      await sandbox.write("text", BOTTOM);
      writeFileSync(join(real, "text"), TOP);
      expect(await conflicts(sandbox.commit())).toEqual({ text: "changed" });
      await sandbox.resolve(["text"], "merge");
      expect(Buffer.from(await sandbox.read("text")).toString()).toBe(BOTH);
      expect(await (await sandbox.diff()).text()).toContain("+bottom");
      await sandbox.commit();
      expect(readFileSync(join(real, "text"), "utf8")).toBe(BOTH);
    });

    test("merges nothing when something cannot be merged, and says why (R44)", async () => {
      const { real, state } = textSite();
      await using bench = await openBench(subject, real, state);
      const { sandbox } = bench;
      await sandbox.write("text", BOTTOM);
      await sandbox.write("other", "ours\n");
      writeFileSync(join(real, "text"), TOP);
      writeFileSync(join(real, "other"), "theirs\n");
      expect(await conflicts(sandbox.resolve([""], "merge"))).toEqual({ other: "overlap" });
      expect(Buffer.from(await sandbox.read("text")).toString()).toBe(BOTTOM);
      expect(Object.keys(await conflicts(sandbox.commit()))).toEqual(["other", "text"]);
    });

    test("never merges over a change of attributes that its own write would lose", async () => {
      const { real, state } = textSite();
      await using bench = await openBench(subject, real, state);
      await bench.sandbox.write("text", BOTTOM);
      writeFileSync(join(real, "text"), TOP);
      shell(real, "chmod 600 text");
      expect(await conflicts(bench.sandbox.resolve(["text"], "merge"))).toEqual({
        text: "overlap",
      });
      await bench.sandbox.commit({ merge: true });
      expect(shell(real, "stat -c %a text; cat text")).toBe(`600\n${BOTH}`);
    });

    test("has no ancestor any more for what was settled, in forks and after a return either", async () => {
      const { real, state } = textSite();
      const withBase = { properties: { ...subject.properties, base: "keep" } };
      await using bench = await openBench(subject, real, state, withBase);
      const { sandbox, coffer } = bench;
      await sandbox.write("text", BOTTOM);
      await sandbox.checkpoint("before");
      writeFileSync(join(real, "text"), TOP);
      await sandbox.resolve(["text"], "mine");
      const fork = (await (await coffer.plan("plan")).fork("fork")).sandbox("r");
      writeFileSync(join(real, "text"), `${TOP}more\n`);
      expect(await conflicts(sandbox.commit({ merge: true }))).toEqual({ text: "noAncestor" });
      expect(await conflicts(fork.commit({ merge: true }))).toEqual({ text: "noAncestor" });
      await sandbox.restoreCheckpoint("before");
      expect(await conflicts(sandbox.commit({ merge: true }))).toEqual({ text: "noAncestor" });
      await fork.cleanup();
    });

    test("takes names back that are no text, and hard links with their other name", async () => {
      const { real, state } = textSite();
      shell(real, `ln other twin; printf x > "$(printf 'n\\377')"`);
      await using bench = await openBench(subject, real, state);
      const { sandbox } = bench;
      const workspace = await sandbox.getPath();
      const before = takeOracle(workspace);
      shell(workspace, `printf y > "$(printf 'n\\377')"; printf z >> other; rm twin; mkdir d`);
      await sandbox.drop([Buffer.from("n\xff", "latin1")]);
      await sandbox.drop([""]);
      expect(await changesOf(sandbox)).toEqual({});
      expectOracleEqual(before, takeOracle(await sandbox.getPath()), { ignore: ["hardLinks"] });
    });

    test("takes a single-file resource back, and settles it", async () => {
      const { real, state } = textSite();
      const options = { type: "fs-file" };
      await using bench = await openBench(subject, join(real, "text"), state, options);
      const { sandbox } = bench;
      await sandbox.write("", BOTTOM);
      await sandbox.drop([""]);
      expect(await changesOf(sandbox)).toEqual({});
      await sandbox.write("", BOTTOM);
      writeFileSync(join(real, "text"), "theirs\n");
      expect(await conflicts(sandbox.commit())).toEqual({ text: "changed" });
      await sandbox.resolve(["text"], "mine");
      await sandbox.commit();
      expect(readFileSync(join(real, "text"), "utf8")).toBe(BOTTOM);
    });
  });
}
