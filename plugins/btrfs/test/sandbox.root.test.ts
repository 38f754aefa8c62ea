import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SandboxCreationError, SandboxConflictError, openCofferdam } from "cofferdam";
import { afterAll, describe, expect, it } from "vitest";
import { expectOracleEqual } from "../../../test/support/oracle.ts";
import { runChild } from "../../../test/support/child.ts";
import { mountFileSystem } from "../../../test/support/loop.ts";
import { nobody } from "../../../test/support/nobody.ts";
import { readable } from "../../../test/support/package-folder.ts";
import { RandomEdits } from "./random-edits.ts";
import { AREA, Site, run, stateOf } from "./sandbox.ts";
import { CONFIG } from "./subject.ts";

const disk = mountFileSystem("btrfs", { megabytes: 600 });
afterAll(() => disk[Symbol.asyncDispose]());

/** Where workspaces lie, seen from the folder of a site. */
const TREES = `root/${AREA}/sandboxes/*/g1/tree`;

const pathsOf = (changes: readonly { readonly path: string }[]): string[] =>
  changes.map(({ path }) => path);

describe("a sandbox that is a snapshot", () => {
  it("shows what was edited, in folders that were moved too, and further names of files", async () => {
    const site = new Site(disk.mountPoint);
    run(site.root, "mkdir old; echo 1 > old/one; ln old/one other; ln old/one docs/third");
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    const path = await sandbox.getPath();
    run(path, "mv old new; echo 2 > other; ln readme docs/again; chmod g+w docs/deep");
    const { changes } = await sandbox.diff();
    expect(pathsOf(changes)).toEqual([
      "docs/again",
      "docs/deep",
      "docs/third",
      "new",
      "new/one",
      "old",
      "old/one",
      "other",
    ]);
    const wanted = stateOf(path);
    const before = stateOf(site.root);
    await sandbox.commit();
    expectOracleEqual(stateOf(site.root), wanted);
    await sandbox.rollback();
    expectOracleEqual(stateOf(site.root), before);
    await sandbox.cleanup();
    expect(site.subvolumes()).toEqual(["./root"]);
  });

  it.each([1, 2, 6, 11, 39, 53, 55])(
    "is committed as it is, and taken back, whatever was done in it, seed %i",
    async (seed) => {
      const site = new Site(disk.mountPoint);
      new RandomEdits(site.root, seed).make(60);
      await using cofferdam = await site.open();
      const sandbox = await site.sandbox(cofferdam);
      const path = await sandbox.getPath();
      const before = stateOf(site.root);
      expectOracleEqual(stateOf(path), before);
      new RandomEdits(path, seed + 100).make(25);
      await sandbox.checkpoint("middle");
      const middle = stateOf(path);
      new RandomEdits(path, seed + 200).make(25);
      await sandbox.restoreCheckpoint("middle");
      const restored = await sandbox.getPath();
      expectOracleEqual(stateOf(restored), middle);
      await sandbox.commit();
      expectOracleEqual(stateOf(site.root), middle);
      await sandbox.undoCommit();
      expectOracleEqual(stateOf(site.root), before);
      await sandbox.commit();
      expectOracleEqual(stateOf(site.root), middle);
      await sandbox.rollback();
      expectOracleEqual(stateOf(site.root), before);
      await sandbox.cleanup();
      expect(site.subvolumes()).toEqual(["./root"]);
    },
  );

  it("is merged with what others did to the same file, whatever program edited it", async () => {
    const site = new Site(disk.mountPoint);
    run(site.root, "seq 9 > lines");
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    run(await sandbox.getPath(), "sed -i 's/^2$/two/' lines");
    run(site.root, "sed -i 's/^8$/eight/' lines");
    await expect(sandbox.commit()).rejects.toBeInstanceOf(SandboxConflictError);
    await sandbox.commit({ merge: true });
    expect(run(site.root, "tr '\n' ' ' < lines")).toBe("1 two 3 4 5 6 7 eight 9 ");
    await sandbox.rollback();
    run(await sandbox.getPath(), "sed -i 's/^2$/zwei/' lines");
    run(site.root, "sed -i 's/^1$/one/; s/^7$/seven/' lines");
    await sandbox.resolve(["lines"], "theirs");
    run(await sandbox.getPath(), "sed -i 's/^3$/three/' lines");
    run(site.root, "sed -i 's/^9$/nine/' lines");
    // What was settled is not what the snapshot has: no version is certain to be the one that both began with.
    await expect(sandbox.commit({ merge: true })).rejects.toMatchObject({
      data: { conflicts: [{ path: "lines", reason: "noAncestor" }] },
    });
  });

  it("writes nowhere else when a program leaves a link where its own folder was", async () => {
    const site = new Site(disk.mountPoint);
    const outside = join(site.folder, "outside");
    mkdirSync(join(outside, "take-back"), { recursive: true });
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    const leave = (script: string): string => run(site.folder, `cd "$(ls -d ${TREES})"; ${script}`);
    leave(`rm -r ${AREA}; ln -s ${outside} ${AREA}; rm readme`);
    await sandbox.drop(["readme"]);
    leave(`rm -r ${AREA}; ln -s ${outside} ${AREA}`);
    await sandbox.write("readme", "edited\n");
    expect(run(outside, "find .")).toBe(".\n./take-back\n");
    await sandbox.commit();
    expect(run(site.root, "cat readme")).toBe("edited\n");
  });

  it("shows nothing of other sandboxes, and does not compare what many keep for an undo", async () => {
    const site = new Site(disk.mountPoint);
    run(site.root, "mkdir many; cd many; seq 150 | xargs touch");
    await using cofferdam = await site.open();
    const first = await site.sandbox(cofferdam, "first");
    run(await first.getPath(), "rm -r many");
    await first.commit();
    const second = await site.sandbox(cofferdam, "second");
    expect(run(site.root, `find ${AREA} -type f -path '*/many/*' | wc -l`)).toBe("150\n");
    expect(run(await second.getPath(), `find ${AREA} ../base/${AREA} -type f`)).toBe("");
    expect((await second.diff()).changes).toEqual([]);
  });

  it.each([
    ["one of its snapshots", "btrfs -q subvolume delete $home/g1/tree"],
    ["its snapshots", "btrfs -q subvolume delete $home/g1/*; rm -r $home/g1"],
    ["its folder", "btrfs -q subvolume delete $home/g1/*; rm -r $home"],
  ])("is forgotten when an earlier clean-up died after %s", async (_what, remove) => {
    const site = new Site(disk.mountPoint);
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    run(site.folder, `home=$(ls -d root/${AREA}/sandboxes/*); ${remove}`);
    await sandbox.cleanup();
    expect(site.subvolumes()).toEqual(["./root"]);
    expect(run(site.root, `ls ${AREA}/sandboxes`)).toBe("");
    expect(await cofferdam.list()).toEqual([]);
  });

  it("is made where the state lies in a subvolume inside of the resource", async () => {
    const site = new Site(disk.mountPoint);
    run(site.root, "btrfs -q subvolume create inner");
    const stateDirectory = join(site.root, "inner/state");
    await using cofferdam = await openCofferdam({ stateDirectory, config: CONFIG });
    const sandbox = await site.sandbox(cofferdam);
    expect(run(await sandbox.getPath(), `find ${AREA} inner`)).toBe(`${AREA}\ninner\n`);
    expect((await sandbox.diff()).changes).toEqual([]);
  });

  it("publishes a subvolume that was made in it as a folder, and removes it with the rest", async () => {
    const site = new Site(disk.mountPoint);
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    run(await sandbox.getPath(), "btrfs -q subvolume create docs/inner; echo in > docs/inner/file");
    expect(pathsOf((await sandbox.diff()).changes)).toEqual(["docs/inner", "docs/inner/file"]);
    await sandbox.commit();
    expect(run(site.root, "cat docs/inner/file; stat -c %i docs/inner")).toMatch(/^in\n(?!256\n)/);
    await sandbox.cleanup();
    expect(site.subvolumes()).toEqual(["./root"]);
  });

  it("does not touch a subvolume inside of the resource, and does not let it be removed", async () => {
    const site = new Site(disk.mountPoint);
    run(site.root, "btrfs -q subvolume create inner; echo theirs > inner/file");
    await using cofferdam = await site.open();
    const sandbox = await site.sandbox(cofferdam);
    await sandbox.write("readme", "edited\n");
    await sandbox.commit();
    expect(run(site.root, "cat readme inner/file")).toBe("edited\ntheirs\n");
    await sandbox.rollback();
    run(await sandbox.getPath(), "rmdir inner");
    await expect(sandbox.commit()).rejects.toBeInstanceOf(SandboxConflictError);
    expect(run(site.root, "cat readme inner/file")).toBe("read me\ntheirs\n");
  });

  it.each([[], ["user_subvol_rm_allowed"]])(
    "lives its whole life for an ordinary user, mounted with %j",
    async (...mountOptions) => {
      await using own = mountFileSystem("btrfs", { mountOptions });
      const site = new Site(own.mountPoint);
      run(site.folder, `chown -R ${nobody.uid}:${nobody.gid} .`);
      const program = new URL("programs/whole-life.ts", import.meta.url);
      const args = [site.stateDirectory, site.root, readable(CONFIG)];
      const { stdout, stderr } = await runChild(program, args, { uid: nobody.uid });
      expect(stderr).toBe("");
      expect(JSON.parse(stdout)).toEqual({
        changes: ["docs/deep/page"],
        committed: "new\n",
        undone: "old\n",
      });
      expect(site.subvolumes()).toEqual(["./root"]);
    },
  );

  it("is made of a subvolume alone", async () => {
    const site = new Site(disk.mountPoint);
    await using cofferdam = await site.open();
    mkdirSync(join(site.folder, "plain"));
    writeFileSync(join(site.folder, "plain/file"), "");
    for (const [type, location] of [
      ["fs-directory", "plain"],
      ["fs-file", "plain/file"],
    ] as const) {
      const resource = { resourceId: "plain", type, location: join(site.folder, location) };
      const options = { strategy: "btrfs_snapshot" };
      await expect(cofferdam.create("plan", resource, options)).rejects.toBeInstanceOf(
        SandboxCreationError,
      );
    }
    expect(site.subvolumes()).toEqual(["./root"]);
  });
});
