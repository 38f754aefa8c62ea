import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { faultPoints, runWithFault, type TracedProgram } from "../support/faults.ts";
import { tempFolder } from "../support/temp.ts";

const program = new URL("./programs/replace-files.ts", import.meta.url);
const NAMES = ["a/1", "a/2", "b/3"];

/** Two folders with three old files, and a program that replaces all of them. */
function replacing(): TracedProgram & { readonly folder: string } {
  const folder = tempFolder();
  for (const name of ["a", "b"]) mkdirSync(join(folder, name));
  for (const name of NAMES) writeFileSync(join(folder, name), "old");
  const args = ["new", ...NAMES.map((name) => join(folder, name))];
  return { program, args, touching: [folder], folder };
}

function contentsOf(folder: string): string[] {
  return NAMES.map((name) => readFileSync(join(folder, name), "utf8"));
}

function listOf(folder: string): string[] {
  return ["a", "b"].flatMap((name) =>
    readdirSync(join(folder, name)).map((one) => `${name}/${one}`),
  );
}

it("syncs the contents of several files before the first gets its name, and each folder once (R222)", async () => {
  const traced = replacing();
  const points = await faultPoints(traced);
  const calls = points.map(({ call }) => call);
  const named = calls.indexOf("rename");
  expect(calls.slice(0, named).filter((call) => call === "fsync")).toHaveLength(NAMES.length);
  expect(calls.slice(named)).toEqual(["rename", "rename", "rename", "fsync", "fsync"]);
  const synced = points.slice(-2).flatMap(({ paths }) => paths);
  expect(synced.toSorted()).toEqual(["a", "b"].map((name) => join(traced.folder, name)));
  expect(contentsOf(traced.folder)).toEqual(["new", "new", "new"]);
});

it("leaves each of several files old or new when the writer is killed at any call (R221)", async () => {
  const seen = new Set<string>();
  for (const point of await faultPoints(replacing())) {
    const traced = replacing();
    const run = await runWithFault(traced, point, { signal: "KILL" });
    expect(run.fired).toBe(true);
    seen.add(contentsOf(traced.folder).join(" "));
  }
  expect([...seen]).toEqual(["old old old", "new old old", "new new old", "new new new"]);
});

it("leaves no draft of several files when a call fails (R221)", async () => {
  const points = await faultPoints(replacing());
  for (const point of points) {
    const traced = replacing();
    const run = await runWithFault(traced, point, { error: "ENOSPC" });
    expect(run).toMatchObject({ fired: true, code: 1 });
    expect(listOf(traced.folder)).toEqual(NAMES);
  }
});
