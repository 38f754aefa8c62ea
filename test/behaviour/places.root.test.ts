import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { SandboxCreationError } from "../../src/index.ts";
import { mountFileSystem } from "../support/loop.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { COPIES, ISOLATING, listing, openSite, shell } from "./subjects.ts";

const TREE = "mkdir d; printf one > a; printf two > d/b; touch -d 2001-02-03 a d/b d .";
const EDITS = "printf changed > a; rm d/b; printf new > d/c";

for (const subject of COPIES) {
  test(`${subject.name} works in a directory on another file system (R68, R183)`, async () => {
    await using disk = mountFileSystem("tmpfs");
    await using site = await openSite(TREE);
    const before = takeOracle(site.real);
    const sandbox = await site.sandbox(subject, {
      properties: { workspaceDirectory: disk.mountPoint },
    });
    const workspace = await sandbox.getPath();
    expect(statSync(workspace).dev).toBe(statSync(disk.mountPoint).dev);
    expect(statSync(workspace).dev).not.toBe(statSync(site.real).dev);
    shell(workspace, EDITS);
    await sandbox.write("written", "by call");
    await sandbox.checkpoint("kept");
    shell(await sandbox.getPath(), "rm a");
    await sandbox.restoreCheckpoint("kept");
    await sandbox.commit();
    expect(shell(site.real, "cat a d/c written")).toBe("changednewby call");
    await sandbox.rollback();
    expectOracleEqual(before, takeOracle(site.real));
    await sandbox.cleanup();
    expect(listing(disk.mountPoint)).toEqual([""]);
  });
}

test("a workspace directory inside the resource is refused and nothing remains (R4)", async () => {
  await using site = await openSite(TREE);
  const before = listing(site.folder);
  mkdirSync(join(site.real, "inside"));
  const attempt = site.sandbox(COPIES[0]!, {
    properties: { workspaceDirectory: join(site.real, "inside") },
  });
  await expect(attempt).rejects.toBeInstanceOf(SandboxCreationError);
  expect(listing(join(site.real, "inside"))).toEqual([""]);
  expect(listing(site.folder).filter((path) => path.includes("/sandboxes/"))).toEqual(
    before.filter((path) => path.includes("/sandboxes/")),
  );
});

for (const subject of ISOLATING) {
  describe(`with ${subject.name}`, () => {
    it("works on the root of a mounted file system (R39)", async () => {
      await using disk = mountFileSystem("ext4");
      await using site = await openSite("true");
      shell(disk.mountPoint, TREE);
      const own = [".cofferdam-0", "lost+found"];
      const before = takeOracle(disk.mountPoint, { exclude: own });
      // Layers that lie inside the base cannot be stacked on it by the kernel, so the overlay picks its mode itself.
      const strategy = {
        ...subject,
        properties: subject.name === "overlay kernel" ? {} : (subject.properties ?? {}),
      };
      const sandbox = await site.sandbox(strategy, { type: "fs-mount", location: disk.mountPoint });
      shell(await sandbox.getPath(), EDITS);
      expect(shell(await sandbox.getPath(), "ls -A").includes(".cofferdam")).toBe(false);
      await sandbox.commit();
      expect(readFileSync(join(disk.mountPoint, "a"), "utf8")).toBe("changed");
      await sandbox.rollback();
      expectOracleEqual(before, takeOracle(disk.mountPoint, { exclude: own }), {
        ignore: ["rootMtime"],
      });
      await sandbox.cleanup();
    });

    it("works on a subvolume, into which nothing can be renamed from outside (R39)", async () => {
      await using disk = mountFileSystem("btrfs");
      await using site = await openSite("true");
      const location = join(disk.mountPoint, "subvolume");
      shell(disk.mountPoint, "btrfs subvolume create subvolume");
      shell(location, TREE);
      const own = [".cofferdam-0"];
      const before = takeOracle(location, { exclude: own });
      const strategy = {
        ...subject,
        properties: subject.name === "overlay kernel" ? {} : (subject.properties ?? {}),
      };
      const sandbox = await site.sandbox(strategy, { location });
      shell(await sandbox.getPath(), EDITS);
      await sandbox.commit();
      expect(readFileSync(join(location, "a"), "utf8")).toBe("changed");
      await sandbox.rollback();
      expectOracleEqual(before, takeOracle(location, { exclude: own }), { ignore: ["rootMtime"] });
      await sandbox.cleanup();
    });

    it("works on a single file and leaves its neighbours alone (R39, R84)", async () => {
      await using site = await openSite(TREE);
      const before = takeOracle(site.real);
      const sandbox = await site.sandbox(subject, {
        type: "fs-file",
        location: join(site.real, "a"),
      });
      expect(Buffer.from(await sandbox.read("a")).toString()).toBe("one");
      await sandbox.write("a", "changed");
      expect((await sandbox.commit()).changed).toEqual(["a"]);
      expect(readFileSync(join(site.real, "a"), "utf8")).toBe("changed");
      await sandbox.rollback();
      expectOracleEqual(before, takeOracle(site.real));
      await sandbox.cleanup();
    });

    it("leaves nothing beside the original over many cycles (R41, R181)", async () => {
      await using site = await openSite(TREE);
      const sandbox = await site.sandbox(subject);
      const around = (): string[] =>
        listing(site.folder).filter((path) => !path.startsWith(site.real));
      const counts: number[] = [];
      for (let cycle = 0; cycle < 6; cycle++) {
        shell(await sandbox.getPath(), `printf ${cycle} > a`);
        await sandbox.commit();
        await sandbox.rollback();
        shell(await sandbox.getPath(), `printf ${cycle} > a`);
        shell(site.real, `printf foreign-${cycle} > a`);
        await expect(sandbox.commit()).rejects.toMatchObject({ code: "SANDBOX_CONFLICT" });
        await sandbox.rollback();
        counts.push(around().filter((path) => !path.includes("/done/")).length);
      }
      expect(new Set(counts.slice(1)).size).toBe(1);
      await sandbox.cleanup();
      expect(around().filter((path) => path.includes("/sandboxes/"))).toEqual([]);
    });
  });
}
