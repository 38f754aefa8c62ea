import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { testSettling } from "./settling.ts";
import { shell } from "./shell.ts";
import { KERNEL, openBench } from "./subjects.ts";

testSettling([KERNEL]);

test("copies nothing when a removed or replaced folder is taken back", async () => {
  const folder = tempFolder();
  const real = join(folder, "real");
  mkdirSync(join(real, "many/deep"), { recursive: true });
  for (let at = 0; at < 20; at++) writeFileSync(join(real, `many/deep/${at}`), "content\n");
  await using bench = await openBench(KERNEL, real, join(folder, "state"));
  const { sandbox, directory } = bench;
  shell(await sandbox.getPath(), "rm -r many; printf x > many");
  await sandbox.drop(["many"]);
  expect((await sandbox.diff()).isEmpty).toBe(true);
  expect(shell(directory, "grep -rl content . || true")).toBe("");
  expect(shell(await sandbox.getPath(), "cat many/deep/* | wc -l")).toBe("20\n");
});
