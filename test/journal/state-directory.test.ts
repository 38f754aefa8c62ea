import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, rmSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  defaultStateDirectory,
  networkFileSystem,
  openStateDirectory,
} from "../../src/journal/state-directory.ts";
import { runChild } from "../support/child.ts";
import { tempFolder } from "../support/temp.ts";

const program = new URL("./programs/open-state.ts", import.meta.url);
const FOREIGN = { code: "RECORD_DAMAGED", data: { reason: "foreignOwner" } };

function modesBelow(path: string): string[] {
  const listed = spawnSync("find", [path, "-printf", "%P %m %u\n"], { encoding: "utf8" });
  return listed.stdout.trimEnd().split("\n").toSorted();
}

it("makes a private folder with folders above it as needed (R233)", async () => {
  const path = join(tempFolder(), "a", "b", "state");
  const opened = await openStateDirectory(path);
  expect(opened).toEqual({ path, installId: expect.stringMatching(/^[0-9a-f]{16}$/) as string });
  const user = spawnSync("id", ["-un"], { encoding: "utf8" }).stdout.trim();
  expect(modesBelow(path)).toEqual([
    ` 700 ${user}`,
    `done 700 ${user}`,
    `install.json 600 ${user}`,
    `owners 700 ${user}`,
    `plans 700 ${user}`,
    `tx 700 ${user}`,
  ]);
});

it.each(["/proc/nothing", "/proc/nothing/more/state"])(
  "says at once that no folder can be made in %s",
  async (path) => {
    await expect(openStateDirectory(path)).rejects.toMatchObject({
      code: "PLATFORM_UNSUPPORTED",
      data: { what: "state directory" },
    });
  },
);

it("keeps the installation's id, also when eight processes open it at once", async () => {
  const path = join(tempFolder(), "state");
  const runs = await Promise.all(Array.from({ length: 8 }, () => runChild(program, [path])));
  const ids = runs.map(({ stdout }) => stdout);
  expect(ids[0]).toMatch(/^[0-9a-f]{16}$/);
  expect(new Set(ids).size).toBe(1);
  expect((await openStateDirectory(path)).installId).toBe(ids[0]);
  expect(readdirSync(path).toSorted()).toEqual(["done", "install.json", "owners", "plans", "tx"]);
});

it("refuses a folder that others may write to (R233)", async () => {
  for (const mode of [0o770, 0o702, 0o1777]) {
    const path = join(tempFolder(), "open");
    mkdirSync(path);
    chmodSync(path, mode);
    await expect(openStateDirectory(path)).rejects.toMatchObject(FOREIGN);
    expect(readdirSync(path)).toEqual([]);
  }
});

it("refuses a place where everybody may swap the folder for another (R233)", async () => {
  const folder = tempFolder();
  chmodSync(folder, 0o777);
  await expect(openStateDirectory(join(folder, "state"))).rejects.toMatchObject(FOREIGN);
  chmodSync(folder, 0o1777);
  await expect(openStateDirectory(join(folder, "state"))).resolves.toBeDefined();
});

it("closes an empty folder to readers and refuses to take over a shared one (R233)", async () => {
  const folder = tempFolder();
  for (const name of ["empty", "used"]) mkdirSync(join(folder, name), { mode: 0o755 });
  writeFileSync(join(folder, "used", "notes"), "mine");
  await openStateDirectory(join(folder, "empty"));
  expect(modesBelow(join(folder, "empty"))[0]).toMatch(/^ 700 /);
  await expect(openStateDirectory(join(folder, "used"))).rejects.toMatchObject(FOREIGN);
  expect(readdirSync(join(folder, "used"))).toEqual(["notes"]);
});

it("gives one clear error when a file is where a folder of its own has to be", async () => {
  const { path, installId } = await openStateDirectory(join(tempFolder(), "state"));
  const plans = join(path, "plans");
  rmdirSync(plans);
  writeFileSync(plans, "in the way");
  await expect(openStateDirectory(path)).rejects.toMatchObject({
    code: "PLATFORM_UNSUPPORTED",
    data: { what: "state directory" },
    cause: { code: "EEXIST" },
  });
  rmSync(plans);
  expect(await openStateDirectory(path)).toEqual({ path, installId });
});

it("knows network file systems by their number", () => {
  expect([0x6969, 0xff534d42, -0xacb2be, 0x01021997].map(networkFileSystem)).toEqual([
    "nfs",
    "cifs",
    "cifs",
    "9p",
  ]);
  expect([0xef53, 0x58465342, 0x9123683e, 0x01021994].map(networkFileSystem)).toEqual([
    null,
    null,
    null,
    null,
  ]);
});

it("lies in the user's state home unless told otherwise", () => {
  expect(defaultStateDirectory({ XDG_STATE_HOME: "/x/state" }, "/home/u")).toBe(
    "/x/state/cofferdam",
  );
  for (const value of [undefined, "", "relative"]) {
    const environment = { XDG_STATE_HOME: value };
    expect(defaultStateDirectory(environment, "/home/u")).toBe("/home/u/.local/state/cofferdam");
  }
});
