import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openStateDirectory } from "../../src/journal/state-directory.ts";
import { findArea } from "../../src/journal/storage-area.ts";
import { renameObstacle } from "../../src/journal/rename-probe.ts";
import { runChild } from "../support/child.ts";
import { mountFileSystem } from "../support/loop.ts";
import { nobody } from "../support/nobody.ts";
import { ordinaryUser, type OrdinaryUser } from "../support/privilege.ts";
import { tempFolder } from "../support/temp.ts";

const program = new URL("./programs/find-area.ts", import.meta.url);

async function openState(path = join(tempFolder(), "state")): Promise<string> {
  return (await openStateDirectory(path)).path;
}

function folder(...parts: string[]): string {
  const path = join(...parts);
  mkdirSync(path, { recursive: true });
  return path;
}

function run(command: string, ...args: string[]): string {
  const done = spawnSync(command, args, { encoding: "utf8" });
  if (done.status !== 0) throw new Error(`${command}: ${done.stderr}`);
  return done.stdout;
}

/** A real rename out of the area into the resource. */
function expectRenames(area: { readonly path: string }, data: string): void {
  const from = join(area.path, "trial");
  writeFileSync(from, "moved");
  renameSync(from, join(data, "trial"));
  rmSync(join(data, "trial"));
}

async function findAs(user: OrdinaryUser, ...args: string[]): Promise<unknown> {
  const { stdout } = await runChild(program, args, { uid: user.uid, env: user.env });
  return JSON.parse(stdout);
}

it("goes to the root of the resource's own file system (R233)", async () => {
  await using disk = mountFileSystem("tmpfs");
  const data = folder(disk.mountPoint, "a", "b", "data");
  const area = await findArea(data, { stateDirectory: await openState() });
  expect(area).toEqual({
    path: join(disk.mountPoint, ".cofferdam-0"),
    foundBy: "mountRoot",
    ownPaths: [],
  });
  expect(run("stat", "-c", "%a %u", area.path)).toBe("700 0\n");
  expectRenames(area, data);
});

it("leaves the times of a whole mount alone when the area has to lie in it", async () => {
  await using disk = mountFileSystem("tmpfs");
  run("touch", "-d", "2001-02-03 04:05:06.123456789", disk.mountPoint);
  const area = await findArea(disk.mountPoint, { stateDirectory: await openState() });
  expect(area).toMatchObject({ foundBy: "mountRoot", ownPaths: [area.path] });
  expect(run("stat", "-c", "%y", disk.mountPoint)).toContain("2001-02-03 04:05:06.123456789");
});

it("is not deceived by a bind mount with the same device number", async () => {
  await using disk = mountFileSystem("tmpfs");
  const stateDirectory = await openState(join(disk.mountPoint, "state"));
  const [inside, bound] = [folder(disk.mountPoint, "inside"), folder(disk.mountPoint, "bound")];
  run("mount", "--bind", inside, bound);
  try {
    const data = folder(bound, "data");
    expect(run("stat", "-c", "%d", data)).toBe(run("stat", "-c", "%d", stateDirectory));
    expect(renameObstacle(stateDirectory, data)).toBe("another mount");
    const area = await findArea(data, { stateDirectory });
    expect(area).toMatchObject({ path: join(bound, ".cofferdam-0"), foundBy: "mountRoot" });
    expectRenames(area, data);
  } finally {
    run("umount", bound);
  }
});

it("stays inside a subvolume", async () => {
  await using disk = mountFileSystem("btrfs");
  const stateDirectory = await openState(join(disk.mountPoint, "state"));
  run("btrfs", "subvolume", "create", join(disk.mountPoint, "volume"));
  const data = folder(disk.mountPoint, "volume", "data");
  const area = await findArea(data, { stateDirectory });
  expect(area).toMatchObject({
    path: join(disk.mountPoint, "volume", ".cofferdam-0"),
    foundBy: "ancestor",
  });
  expectRenames(area, data);
});

it("stays inside a quota project", async () => {
  await using disk = mountFileSystem("xfs");
  const stateDirectory = await openState(join(disk.mountPoint, "state"));
  const project = folder(disk.mountPoint, "project");
  run("chattr", "+P", "-p", "42", project);
  const data = folder(project, "data");
  writeFileSync(join(disk.mountPoint, "outside"), "");
  expect(() => renameSync(join(disk.mountPoint, "outside"), join(data, "x"))).toThrowError(
    expect.objectContaining({ code: "EXDEV" }) as Error,
  );
  const area = await findArea(data, { stateDirectory });
  expect(area).toMatchObject({ path: join(project, ".cofferdam-0"), foundBy: "ancestor" });
  expectRenames(area, data);
  expect(run("find", disk.mountPoint, "-maxdepth", "1", "-name", ".cofferdam*")).toBe("");
});

it("never uses an area that somebody planted (R233)", async () => {
  for (const plant of [plantFolder, plantLink]) {
    await using disk = mountFileSystem("tmpfs");
    const planted = join(disk.mountPoint, ".cofferdam-0");
    plant(planted, disk.mountPoint);
    const data = folder(disk.mountPoint, "a", "data");
    const area = await findArea(data, { stateDirectory: await openState() });
    expect(area).toMatchObject({
      path: join(disk.mountPoint, "a", ".cofferdam-0"),
      foundBy: "ancestor",
    });
    expect(run("find", `${planted}/`, "-mindepth", "1")).toBe("");
  }
});

function plantFolder(path: string): void {
  mkdirSync(path, { mode: 0o700 });
  chownSync(path, nobody.uid, nobody.gid);
}

function plantLink(path: string, mountPoint: string): void {
  symlinkSync(folder(mountPoint, "trap"), path);
}

it("leaves a mount alone that lies where an area could be (R262)", async () => {
  await using disk = mountFileSystem("tmpfs");
  const mounted = join(disk.mountPoint, ".cofferdam-0");
  mkdirSync(mounted, { mode: 0o700 });
  const data = folder(disk.mountPoint, "a", "data");
  run("mount", "--bind", mounted, mounted);
  try {
    const area = await findArea(data, { stateDirectory: await openState() });
    expect(area.path).toBe(join(disk.mountPoint, "a", ".cofferdam-0"));
    run("mountpoint", "-q", mounted);
    expectRenames(area, data);
  } finally {
    run("umount", mounted);
  }
});

it("refuses where nothing can be written, and says so for each place (R4)", async () => {
  await using disk = mountFileSystem("ext4");
  const data = folder(disk.mountPoint, "data");
  run("mount", "-o", "remount,ro", disk.mountPoint);
  await expect(findArea(data, { stateDirectory: await openState() })).rejects.toMatchObject({
    code: "SANDBOX_CREATION",
    data: { stage: "area", residue: [] },
  });
});

it("takes an ordinary user's nearest folder outside the resource and outside git", async () => {
  await using disk = mountFileSystem("tmpfs");
  const user = ordinaryUser();
  const home = folder(disk.mountPoint, "home");
  const repository = folder(home, "work", "repository");
  const data = folder(repository, "data");
  folder(repository, ".git");
  run("chown", "-R", `${user.uid}:${user.gid}`, home);
  const found = await findAs(user, join(user.home, "s"), data);
  const path = join(home, "work", `.cofferdam-${user.uid}`);
  expect(found).toEqual({ path, foundBy: "ancestor", ownPaths: [] });
  expect(run("stat", "-c", "%a %u", path)).toBe(`700 ${user.uid}\n`);
});

it("goes into the repository's own folder when nothing outside may be written", async () => {
  await using disk = mountFileSystem("tmpfs");
  const user = ordinaryUser();
  const repository = folder(disk.mountPoint, "repository");
  const data = folder(repository, "data");
  run("git", "init", "-q", repository);
  run("chown", "-R", `${user.uid}:${user.gid}`, repository);
  const found = await findAs(user, join(user.home, "s"), data);
  expect(found).toMatchObject({
    path: join(repository, ".git", "cofferdam"),
    foundBy: "gitDirectory",
  });
  expect(
    run("git", "-c", "safe.directory=*", "-C", repository, "status", "--porcelain", "-uall"),
  ).toBe("");
});

it("takes the parent folder inside a work tree only when that is allowed", async () => {
  await using disk = mountFileSystem("tmpfs");
  const user = ordinaryUser();
  const repository = folder(disk.mountPoint, "linked");
  const data = folder(repository, "data");
  writeFileSync(join(repository, ".git"), "gitdir: /elsewhere\n");
  run("chown", "-R", `${user.uid}:${user.gid}`, repository);
  const state = join(user.home, "s");
  expect(await findAs(user, state, data)).toMatchObject({ code: "SANDBOX_CREATION" });
  expect(run("find", disk.mountPoint, "-name", ".cofferdam*")).toBe("");
  expect(await findAs(user, state, data, "parent")).toMatchObject({
    path: join(repository, `.cofferdam-${user.uid}`),
    foundBy: "parent",
  });
});

it("avoids a folder in which everybody may replace things (R233)", async () => {
  await using disk = mountFileSystem("tmpfs");
  run("chmod", "0777", disk.mountPoint);
  const data = folder(disk.mountPoint, "safe", "data");
  const area = await findArea(data, { stateDirectory: await openState() });
  expect(area).toMatchObject({
    path: join(disk.mountPoint, "safe", ".cofferdam-0"),
    foundBy: "ancestor",
  });
});
