import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SandboxConflictError, SandboxRollbackError } from "../../../src/index.ts";
import { publishChanges, unpublishChanges } from "../../../src/tree/toolkit/publish-changes.ts";
import {
  type Fault,
  type FaultPoint,
  type TracedProgram,
  faultPoints,
} from "../../support/faults.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { samplePoints } from "../../support/sample-points.ts";
import { sweep } from "../../support/sweep.ts";
import { tempFolder } from "../../support/temp.ts";
import { EVERY_KIND } from "../publish/fixture.ts";
import { shell } from "../sample-tree.ts";
import { type Folders, changesBetween, placeOf } from "./place.ts";

const MINUTES = 60_000;
const KILL: Fault = { signal: "KILL" };
/** A state knows no hard links: each name is a file of its own. The rest is exact. */
const LINKS = ["hardLinks"] as const;
/** Folders around a change get the time of the publication. */
const AROUND = [...LINKS, "directoryMtimes"] as const;

function makeFolders(edit: string = EVERY_KIND.edit): Folders {
  const top = tempFolder();
  const [root, work] = [join(top, "root"), join(top, "work")];
  const [original, spare] = [join(top, "original"), join(top, "spare")];
  mkdirSync(root);
  mkdirSync(spare);
  shell(root, EVERY_KIND.base);
  for (const copy of [work, original]) execFileSync("cp", ["-a", root, copy]);
  shell(work, edit);
  return { root, work, original, spare };
}

async function publish(folders: Folders): Promise<void> {
  await publishChanges(await changesBetween(folders), await placeOf(folders));
}

async function unpublish(folders: Folders): Promise<void> {
  await unpublishChanges(await changesBetween(folders), await placeOf(folders));
}

describe("changes of a strategy's own", () => {
  it("are published exactly, and taken back exactly, also twice", async () => {
    const folders = makeFolders();
    await publish(folders);
    expectOracleEqual(takeOracle(folders.work), takeOracle(folders.root), { ignore: [...AROUND] });
    for (const _ of ["once", "twice"]) {
      await unpublish(folders);
      expectOracleEqual(takeOracle(folders.original), takeOracle(folders.root), {
        ignore: [...LINKS],
      });
    }
    expect(readdirSync(folders.spare)).toEqual([]);
  });

  it.each([
    ["edited a file that is to be changed", "echo theirs >> modified", ["modified"]],
    ["removed one", "rm modified", ["modified"]],
    ["made one that is to be made", "echo theirs > new", ["new"]],
    ["put something into a folder that is to go", "touch removed/theirs", ["removed/theirs"]],
    [
      "put a link in the place of a folder",
      "mv folder aside; ln -s /etc folder",
      ["folder", "folder/inner"],
    ],
  ])("are refused before anything moves when somebody %s", async (_, theirs, paths) => {
    const folders = makeFolders();
    shell(folders.root, theirs);
    const before = takeOracle(folders.root);
    const refusal = await publish(folders).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SandboxConflictError);
    const { conflicts } = (refusal as SandboxConflictError).data;
    expect(conflicts.map(({ path }) => path)).toEqual(paths);
    expectOracleEqual(before, takeOracle(folders.root));
  });

  it("are not made below a folder that somebody took away or turned into a link", async () => {
    for (const theirs of ["rm -r folder", "rm -r folder; ln -s /tmp folder"]) {
      const folders = makeFolders("echo new > folder/new");
      shell(folders.root, theirs);
      const before = takeOracle(folders.root);
      await expect(publish(folders)).rejects.toBeInstanceOf(SandboxConflictError);
      expectOracleEqual(before, takeOracle(folders.root));
    }
  });

  it("are not taken back over what somebody changed since", async () => {
    const folders = makeFolders();
    await publish(folders);
    shell(folders.root, "echo theirs >> modified; echo theirs > fileToFolder/theirs");
    const before = takeOracle(folders.root);
    const refusal = await unpublish(folders).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(SandboxRollbackError);
    expect((refusal as SandboxRollbackError).data.paths).toEqual([
      "fileToFolder/theirs",
      "modified",
    ]);
    expectOracleEqual(before, takeOracle(folders.root));
  });
});

it("every file is on the disk before it is moved into its place, and every folder before the call ends", async () => {
  const prepared = await prepare("publish");
  const points = await faultPoints(prepared);
  const steps = points.filter(({ call }) => /^(rename|fsync)/.test(call));
  const moved = steps.flatMap(({ call }, at) => (call.startsWith("rename") ? [at] : []));
  const links = ["link", "folderToLink", "added/link"];
  const files = moved.filter((at) => !links.some((name) => goesTo(steps[at], name)));
  expect(files.length).toBeGreaterThan(5);
  expect(files.filter((at) => steps[at - 1]?.call !== "fsync")).toEqual([]);
  const after = steps.slice((moved.at(-1) ?? 0) + 1).map(({ call }) => call);
  expect(new Set(after)).toEqual(new Set(["fsync"]));
  expect(after.length).toBeGreaterThan(3);
});

function goesTo(point: FaultPoint | undefined, name: string): boolean {
  return point?.paths.some((path) => path.endsWith(`root/${name}`)) ?? false;
}

it("a content that is not the one of its state is never published", async () => {
  const folders = makeFolders("echo new > a; echo newer > modified");
  const place = await placeOf(folders);
  const changes = await changesBetween(folders);
  const contentOf = (): Promise<Uint8Array> => Promise.resolve(Buffer.from("rotten\n"));
  await expect(publishChanges(changes, { ...place, contentOf })).rejects.toBeInstanceOf(Error);
  expect(shell(folders.root, "cat *modified*; ls a || true")).toBe("old\n");
  await unpublish(folders);
  expectOracleEqual(takeOracle(folders.original), takeOracle(folders.root), { ignore: [...LINKS] });
});

interface Prepared extends TracedProgram {
  readonly folders: Folders;
}

async function prepare(call: "publish" | "unpublish"): Promise<Prepared> {
  const folders = makeFolders();
  if (call === "unpublish") await publish(folders);
  return {
    folders,
    program: new URL("./programs/publish.ts", import.meta.url),
    args: [call, JSON.stringify(folders)],
    touching: [folders.root, folders.spare],
  };
}

it.each(["publish", "unpublish"] as const)(
  "come back to what was there when %sing is killed at any call",
  async (call) => {
    await sweep({
      prepare: () => prepare(call),
      fault: KILL,
      choose: samplePoints(6),
      check: async ({ folders }) => {
        await unpublish(folders);
        expectOracleEqual(takeOracle(folders.original), takeOracle(folders.root), {
          ignore: [...LINKS],
        });
      },
    });
  },
  5 * MINUTES,
);
