import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { names, shell } from "../strategies/shell.ts";
import { openBench } from "../strategies/subjects.ts";

const NAMES = [
  "x,upperdir=evil",
  "a:b",
  "back\\slash\\",
  "with space",
  "'single\"double`",
  "new\nline",
  "-rf",
  "--option=evil",
  "userxattr,lowerdir=evil:workdir=evil",
  "\\,\\:\\054",
];

interface Mount {
  readonly type: string;
  readonly layers: readonly string[];
}

function expectedMounts(mode: string, real: string, directory: string): Mount[] {
  if (mode === "copy") return [];
  // Below a colon a user namespace shows a copy, because its file server must not be started there.
  if (mode !== "kernel" && directory.includes(":")) return [];
  // What a file server was started with is not in the table.
  if (mode !== "kernel") return [{ type: "fuse.fuse-overlayfs", layers: [] }];
  const layers = [`lowerdir+=${real}`, `upperdir=${directory}/l/1`, `workdir=${directory}/w`];
  return [{ type: "overlay", layers }];
}

/** File system type and layers of each mount below a folder, with the kernel's escapes undone. */
function mountsIn(folder: string): Mount[] {
  const undo = (text: string): string =>
    text.replaceAll(/\\([0-7]{3})/g, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 8)),
    );
  return readFileSync("/proc/self/mountinfo", "latin1")
    .split("\n")
    .filter((line) => undo(line.split(" ")[4] ?? "").startsWith(`${folder}/`))
    .map((line) => {
      const [type = "", , options = ""] = line.slice(line.indexOf(" - ") + 3).split(" ");
      // A comma that belongs to a path is escaped as well.
      const layers = options.split(",").filter((option) => option.includes("dir"));
      return { type, layers: layers.map(undo).filter((option) => !option.startsWith("redirect")) };
    });
}

describe.each(["kernel", "userns", "fuse", "copy"])("overlay, mode %s", (mode) => {
  it.each(NAMES)("lives its whole life below a directory named %j (R80)", async (name) => {
    const folder = tempFolder();
    const real = join(folder, name, "real", name);
    const isBeside = mode === "fuse" && name.includes(":");
    const state = join(folder, isBeside ? "beside" : name, "state");
    mkdirSync(real, { recursive: true });
    shell(real, "printf old > file; mkdir d; printf old > d/file");
    const before = takeOracle(real);
    await using bench = await openBench(
      { name: mode, strategy: "overlay", properties: { mode } },
      real,
      state,
    );
    const { sandbox } = bench;
    const work = await sandbox.getPath();
    expect(mountsIn(folder)).toEqual(expectedMounts(mode, real, bench.directory));
    shell(work, "printf new > file; rm -r d; printf new > added");
    expectOracleEqual(before, takeOracle(real));
    expect((await sandbox.commit()).changed).toEqual(["file"]);
    expect(names(real)).toEqual(["added", "file"]);
    await sandbox.rollback();
    expectOracleEqual(before, takeOracle(real));
    await sandbox.cleanup();
    expect(mountsIn(folder)).toEqual([]);
    expect(shell(folder, "find . -name evil")).toBe("");
  });
});

it("does not start fuse-overlayfs where it would mistake its own layer (R80)", async () => {
  const folder = tempFolder();
  const real = join(folder, "real");
  mkdirSync(real);
  const fuse = { name: "fuse", strategy: "overlay", properties: { mode: "fuse" } };
  const state = join(folder, "a:b", "state");
  await expect(openBench(fuse, real, state)).rejects.toMatchObject({
    code: "SANDBOX_CREATION",
    data: { stage: "mount", residue: [] },
  });
  expect(names(join(state, "area"))).toEqual(["sandboxes"]);
});
