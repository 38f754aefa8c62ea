import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SandboxConflictError } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { openSite, shell } from "./subjects.ts";

const SUBJECTS = [
  { name: "copy_on_write", strategy: "copy_on_write" },
  { name: "filesystem_copy", strategy: "filesystem_copy" },
  { name: "overlay", strategy: "overlay" },
];
const TEXT = Array.from({ length: 20 }, (_, n) => `line ${n}`).join("\n");
const TREE = `printf '%s\\n' '${TEXT}' > text; printf other > other`;
const top = (text: string): string => text.replace("line 0", "line 0, theirs");
const bottom = (text: string): string => text.replace("line 19", "line 19, ours");

for (const subject of SUBJECTS) {
  describe(`with ${subject.name}`, () => {
    it("conflicts for the path that both changed, and for no other (R43)", async () => {
      await using site = await openSite(TREE);
      const sandbox = await site.sandbox(subject);
      await sandbox.write("text", bottom(`${TEXT}\n`));
      shell(site.real, "sed -i 's/line 0/line 0, theirs/' text; printf foreign > other");
      const before = takeOracle(site.real);
      const attempt = sandbox.commit();
      await expect(attempt).rejects.toBeInstanceOf(SandboxConflictError);
      await expect(attempt).rejects.toMatchObject({
        data: { conflicts: [{ path: "text", reason: "changed" }] },
      });
      expectOracleEqual(before, takeOracle(site.real));
      expect((await sandbox.describe()).status).toBe("ACTIVE");
      await sandbox.cleanup();
    });

    it("merges disjoint edits of a file that was written by call (R44)", async () => {
      await using site = await openSite(TREE);
      const sandbox = await site.sandbox(subject);
      await sandbox.write("text", bottom(`${TEXT}\n`));
      shell(site.real, "sed -i 's/line 0/line 0, theirs/' text");
      await sandbox.commit({ merge: true });
      expect(readFileSync(join(site.real, "text"), "utf8")).toBe(top(bottom(`${TEXT}\n`)));
      await sandbox.cleanup();
    });

    it("merges what programs edited when the base was kept, and refuses without it (R44)", async () => {
      await using site = await openSite(TREE);
      const edit = "sed -i 's/line 19/line 19, ours/' text";
      const kept = await site.sandbox(subject, { properties: { base: "keep" } });
      const without = await site.sandbox(subject);
      for (const sandbox of [kept, without]) shell(await sandbox.getPath(), edit);
      shell(site.real, "sed -i 's/line 0/line 0, theirs/' text");
      await expect(without.commit({ merge: true })).rejects.toMatchObject({
        data: { conflicts: [{ path: "text", reason: "noAncestor" }] },
      });
      await kept.commit({ merge: true });
      expect(readFileSync(join(site.real, "text"), "utf8")).toBe(top(bottom(`${TEXT}\n`)));
      await kept.cleanup();
      await without.cleanup();
    });

    it("leaves the original alone when both changed the same line (R44)", async () => {
      await using site = await openSite(TREE);
      const sandbox = await site.sandbox(subject);
      await sandbox.write("text", TEXT.replace("line 0", "line 0, ours"));
      shell(site.real, "sed -i 's/line 0/line 0, theirs/' text");
      const before = takeOracle(site.real);
      await expect(sandbox.commit({ merge: true })).rejects.toMatchObject({
        data: { conflicts: [{ path: "text", reason: "overlap" }] },
      });
      expectOracleEqual(before, takeOracle(site.real));
      await sandbox.cleanup();
    });
  });
}
