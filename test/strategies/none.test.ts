import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { run, shell } from "./shell.ts";
import { type Bench, openBench } from "./subjects.ts";

const NONE = { name: "none", strategy: "none" };

async function makeBench(): Promise<{ real: string; bench: Bench }> {
  const folder = tempFolder();
  const real = join(folder, "real");
  mkdirSync(real);
  writeFileSync(join(real, "file"), "old\n");
  return { real, bench: await openBench(NONE, real, join(folder, "state")) };
}

test("works in place and says so (R99)", async () => {
  const { real, bench } = await makeBench();
  await using _bench = bench;
  const { sandbox, ref } = bench;
  expect(ref.metadata).toMatchObject({ mode: "inPlace", isolation: "none" });
  expect(await sandbox.getPath()).toBe(real);
  await sandbox.write("file", "written\n");
  expect(run("cat", [join(real, "file")])).toBe("written\n");
  shell(real, "printf more >> file; printf new > new");
  expect(Buffer.from(await sandbox.read("file")).toString()).toBe("written\nmore");
  const { changes } = await sandbox.diff();
  expect(changes.map(({ path, kind }) => [path, kind])).toEqual([
    ["file", "modified"],
    ["new", "added"],
  ]);
  const result = await sandbox.commit();
  expect(result).toMatchObject({ changed: ["file"], added: ["new"], noop: false });
  expect(result.undoable.possible).toBe(false);
  expect(result.metadata).toMatchObject({ isolation: "none" });
});

test("cleaning up leaves the edits where they are", async () => {
  const { real, bench } = await makeBench();
  await bench.sandbox.write("file", "new\n");
  await bench[Symbol.asyncDispose]();
  expect(readFileSync(join(real, "file"), "utf8")).toBe("new\n");
  expect(shell(bench.area, "ls sandboxes")).toBe("");
});
