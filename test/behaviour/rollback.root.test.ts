import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SandboxRollbackError } from "../../src/index.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { COPIES, ISOLATING, openSite, shell } from "./subjects.ts";

const TREE = `
  mkdir -p d/e; printf one > a; printf two > d/b; ln -s d/b link; ln -s nowhere broken; ln -s /etc/hostname out
  mkfifo pipe; chmod 0640 a; chmod 0711 d; touch -d '2001-02-03 04:05:06.789' a d/b; touch -d 1999-01-01 d/e d .
`;
const EDITS =
  "printf changed > a; printf new > fresh; rm d/b; mkdir d/b; ln -sfn a link; rmdir d/e";

for (const subject of ISOLATING) {
  describe(`with ${subject.name}`, () => {
    it("refuses an undo whose data is gone, and changes nothing (R32)", async () => {
      await using site = await openSite(TREE);
      const sandbox = await site.sandbox(subject);
      shell(await sandbox.getPath(), EDITS);
      await sandbox.commit();
      const committed = takeOracle(site.real);
      execFileSync("bash", ["-c", `find '${site.state}' -type d -name 'tx-*' -exec rm -rf {} +`]);
      const attempt = sandbox.rollback();
      await expect(attempt).rejects.toBeInstanceOf(SandboxRollbackError);
      await expect(attempt).rejects.toMatchObject({ data: { reason: "undoDataMissing" } });
      expectOracleEqual(committed, takeOracle(site.real));
      expect((await sandbox.describe()).status).toBe("COMMITTED");
      await sandbox.cleanup();
    });

    it("refuses an undo over the edit of somebody else, by name (R42)", async () => {
      await using site = await openSite(TREE);
      const sandbox = await site.sandbox(subject);
      shell(await sandbox.getPath(), EDITS);
      await sandbox.commit();
      shell(site.real, "printf foreign >> fresh");
      const committed = takeOracle(site.real);
      await expect(sandbox.rollback()).rejects.toMatchObject({
        data: { reason: "foreignEdits", paths: ["fresh"] },
      });
      expectOracleEqual(committed, takeOracle(site.real));
      await sandbox.cleanup();
    });
  });
}

for (const subject of COPIES) {
  describe(`with ${subject.name}`, () => {
    it("builds a fresh workspace although an old entry cannot be removed (R36, R63)", async () => {
      await using site = await openSite(TREE);
      const before = takeOracle(site.real);
      const sandbox = await site.sandbox(subject);
      const old = await sandbox.getPath();
      shell(old, "printf stuck > extra; chattr +i extra");
      try {
        await sandbox.rollback();
        const fresh = await sandbox.getPath();
        expect(existsSync(join(fresh, "extra"))).toBe(false);
        expectOracleEqual(before, takeOracle(fresh), { ignore: ["specialFiles"] });
        expect(site.events.map(({ name }) => name)).toContain("sandbox.leftoversKept");
      } finally {
        shell(old, "chattr -i extra");
      }
      await sandbox.cleanup();
    });

    it("keeps links as links with the same text (R66)", async () => {
      await using site = await openSite(TREE);
      const sandbox = await site.sandbox(subject);
      const texts = (folder: string): string =>
        shell(folder, "find . -type l -printf '%p %l\\n' | sort");
      expect(texts(await sandbox.getPath())).toBe(texts(site.real));
      await sandbox.cleanup();
    });
  });
}
