import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ordinaryUser, runAs } from "../support/privilege.ts";
import { tempFolder } from "../support/temp.ts";

it("runs programs as a user who owns a home and nothing else", () => {
  const user = ordinaryUser();
  const foreign = tempFolder({ mode: 0o755 });
  execFileSync("chown", ["0:0", foreign]);
  expect(runAs(user, "id", ["-u"]).stdout.trim()).toBe(String(user.uid));
  expect(runAs(user, "id", ["-G"]).stdout.trim()).toBe(String(user.gid));
  expect(runAs(user, "touch", [join(user.home, "mine")]).code).toBe(0);
  expect(runAs(user, "sh", ["-c", 'touch "$TMPDIR/mine"']).code).toBe(0);
  expect(runAs(user, "touch", [join(foreign, "other")]).code).toBe(1);
});
