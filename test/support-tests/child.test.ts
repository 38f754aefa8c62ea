import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runChild, startChild } from "../support/child.ts";
import { ordinaryUser } from "../support/privilege.ts";
import { tempFolder } from "../support/temp.ts";

const say = new URL("./programs/say.ts", import.meta.url);

it("runs a TypeScript program with modules of src in another process", async () => {
  const folder = tempFolder();
  const result = await runChild(say, [folder, "one", "two"], { env: { HOME: "/nowhere" } });
  expect(result).toMatchObject({ code: 0, signal: null, stderr: "" });
  expect(JSON.parse(result.stdout)).toEqual({
    uid: process.getuid?.(),
    home: "/nowhere",
    said: "one-two",
    bytes: "Ã©",
  });
  expect(readFileSync(join(folder, "made/final"), "utf8")).toBe("one two");
});

it("runs a program under a user without privilege", async () => {
  const user = ordinaryUser();
  const result = await runChild(say, [user.home, "one"], { uid: user.uid, env: user.env });
  expect(result).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(result.stdout)).toMatchObject({ uid: user.uid, home: user.home });
  const owner = execFileSync("stat", ["-c", "%u:%g", join(user.home, "made/final")]);
  expect(owner.toString().trim()).toBe(`${user.uid}:${user.gid}`);
});

it("reports how a program failed", async () => {
  const folder = tempFolder();
  await runChild(say, [folder]);
  const second = await runChild(say, [folder]);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain("EEXIST");
});

it("reports the signal that ended a program", async () => {
  const child = await startChild(say, [tempFolder()], { nodeArgs: ["--inspect-brk=0"] });
  await once(child.process.stderr, "data");
  child.process.kill("SIGKILL");
  expect(await child.result).toMatchObject({ code: null, signal: "SIGKILL" });
});
