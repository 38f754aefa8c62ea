import { chownSync, lchownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openStateDirectory } from "../../src/journal/state-directory.ts";
import { runChild } from "../support/child.ts";
import { nobody } from "../support/nobody.ts";
import { ordinaryUser, runAs } from "../support/privilege.ts";
import { tempFolder } from "../support/temp.ts";

const program = new URL("./programs/open-state.ts", import.meta.url);
const FOREIGN = { code: "RECORD_DAMAGED", data: { reason: "foreignOwner" } };

it("cannot be listed or entered by another user (R233)", async () => {
  const user = ordinaryUser();
  const path = join(tempFolder({ mode: 0o755 }), "state");
  await openStateDirectory(path);
  expect(runAs(user, "ls", [path]).code).not.toBe(0);
  expect(runAs(user, "cat", [join(path, "install.json")]).code).not.toBe(0);
});

it("refuses a folder that another user owns (R233)", async () => {
  const path = join(tempFolder(), "planted");
  mkdirSync(path, { mode: 0o700 });
  chownSync(path, nobody.uid, nobody.gid);
  await expect(openStateDirectory(path)).rejects.toMatchObject(FOREIGN);
  expect(readdirSync(path)).toEqual([]);
});

it("refuses a link that another user planted, and follows one of our own (R233)", async () => {
  const folder = tempFolder();
  const [target, own, planted] = ["target", "own", "planted"].map((name) => join(folder, name));
  mkdirSync(target ?? "", { mode: 0o700 });
  symlinkSync("target", own ?? "");
  symlinkSync("target", planted ?? "");
  lchownSync(planted ?? "", nobody.uid, nobody.gid);
  await expect(openStateDirectory(planted ?? "")).rejects.toMatchObject(FOREIGN);
  expect(readdirSync(target ?? "")).toEqual([]);
  expect((await openStateDirectory(own ?? "")).path).toBe(target);
});

it("gives one clear error where nothing can be written", async () => {
  const folder = tempFolder({ mode: 0o755 });
  const user = ordinaryUser();
  const run = await runChild(program, [join(folder, "state")], { uid: user.uid, env: user.env });
  expect(JSON.parse(run.stdout)).toMatchObject({
    code: "PLATFORM_UNSUPPORTED",
    data: { what: "state directory" },
  });
  writeFileSync(join(folder, "file"), "");
  await expect(openStateDirectory(join(folder, "file"))).rejects.toMatchObject(FOREIGN);
});
