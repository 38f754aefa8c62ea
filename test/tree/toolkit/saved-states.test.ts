import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PathEscapeError, SandboxPathError } from "../../../src/index.ts";
import {
  loadStates,
  readContent,
  saveContent,
  saveStates,
} from "../../../src/tree/toolkit/saved-states.ts";
import { readTreeState } from "../../../src/tree/toolkit/tree-state.ts";
import { type FaultPoint, type TracedProgram, faultPoints } from "../../support/faults.ts";
import { sweep } from "../../support/sweep.ts";
import { tempFolder } from "../../support/temp.ts";

const HASH = createHash("sha256").update("content\n").digest("hex");

interface Prepared extends TracedProgram {
  readonly store: string;
}

/** A store with an old state, and a program that saves a content and a new one. */
async function prepare(): Promise<Prepared> {
  const folder = tempFolder();
  const [store, old, now] = ["store", "old", "now"].map((name) => join(folder, name));
  for (const path of [store!, old!, now!]) mkdirSync(path);
  writeFileSync(join(now!, "new"), "new\n");
  const base = await readTreeState(old!);
  await saveStates(join(store!, "states"), { base, draft: base });
  return {
    store: store!,
    program: new URL("./programs/save.ts", import.meta.url),
    args: [store!, now!],
    touching: [store!],
  };
}

it("finds the old states or the new ones, and a content whole or not at all, wherever saving is killed", async () => {
  const seen = new Set<string>();
  await sweep({
    prepare,
    fault: { signal: "KILL" },
    check: async ({ store }) => {
      const { draft } = await loadStates(join(store, "states"));
      seen.add([...draft.keys()].join());
      const contents = readdirSync(store).filter((name) => name === HASH);
      for (const name of contents)
        expect(readFileSync(join(store, name), "utf8")).toBe("content\n");
    },
  });
  expect([...seen].toSorted()).toEqual(["", ",new"]);
}, 120_000);

it("has both on the disk before anybody relies on them", async () => {
  const calls = (await faultPoints(await prepare())).map(({ call }: FaultPoint) => call);
  const steps = calls.filter((call) => /^(rename|fsync|fdatasync)/.test(call));
  expect(steps.map((call) => (call.startsWith("rename") ? "rename" : "sync"))).toEqual(
    ["content", "states"].flatMap(() => ["sync", "rename", "sync"]),
  );
});

it("keeps a content once, under its hash", async () => {
  const folder = tempFolder();
  expect(await saveContent(folder, "content\n")).toBe(HASH);
  expect(await saveContent(folder, Buffer.from("content\n"))).toBe(HASH);
  expect(readdirSync(folder)).toEqual([HASH]);
});

it("reads no file through a link", async () => {
  const folder = tempFolder();
  mkdirSync(join(folder, "d"));
  writeFileSync(join(folder, "d/file"), "text\n");
  symlinkSync("d", join(folder, "way"));
  symlinkSync("d/file", join(folder, "end"));
  expect(Buffer.from(await readContent(folder, "d/file")).toString()).toBe("text\n");
  for (const path of ["way/file", "end"]) {
    await expect(readContent(folder, path)).rejects.toBeInstanceOf(PathEscapeError);
  }
  await expect(readContent(folder, "d")).rejects.toBeInstanceOf(SandboxPathError);
});
