import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type BytePath, toBytePath } from "../../src/model/byte-path.ts";
import { type CopiedTree, copyTree } from "../../src/tree/copy-tree.ts";
import {
  abandonStage,
  applySteps,
  reverseSteps,
  stageChanges,
} from "../../src/tree/publish/index.ts";
import type { ChangeSet } from "../../src/tree/tree-change.ts";
import { runTask } from "../../src/tree/threads/pool.ts";
import { KERNEL, PLAIN, openBench } from "../strategies/subjects.ts";
import { mountFileSystem } from "../support/loop.ts";
import { type Oracle, expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { isStageGone, makeFixture, requestFor } from "./publish/fixture.ts";
import { AWKWARD_TREE, shell } from "./sample-tree.ts";

/** Everything that can stand in a tree; the folder `border` is another file system. */
const TREE = `${AWKWARD_TREE}
  mkdir -p border dev; mknod dev/null c 1 3; mknod dev/block b 7 99
  touch -d '1999-12-31 23:59:59.000000001' dev .`;

/** Edits of every kind: links that are and become broken, modes, times, empty and full entries. */
const EDIT = `
  ln -sfn gone links/to-file; ln -sfn ../plain/a.txt links/broken; rm links/loop; ln -s loop2 links/loop
  chmod 0604 plain/b.txt; chmod 0700 closed; touch -d '2011-11-11 11:11:11.000000011' plain/nothing
  rmdir empty; mkdir -p new/empty; : > new/nothing; printf more >> plain/deep/blob; rm hard-1
  setfattr -n user.note -v other plain/b.txt; rm plain/a.txt; mkdir plain/a.txt; ln -s /nowhere new/out`;

/** A mount in the tree, for as long as the work takes. */
async function withBorder(tree: string, work: () => Promise<void> | void): Promise<void> {
  await using disk = mountFileSystem("tmpfs");
  writeFileSync(join(disk.mountPoint, "foreign"), "of another file system\n");
  const border = join(tree, "border");
  execFileSync("mount", ["--bind", disk.mountPoint, border]);
  try {
    await work();
    expect(shell(disk.mountPoint, "ls; cat foreign")).toBe("foreign\nof another file system\n");
  } finally {
    execFileSync("umount", [border]);
  }
}

const isOrdinary = ({ path, type }: Oracle[number]): boolean =>
  /[fdl]/.test(type) && !path.startsWith("border");

function makeFolders(...names: string[]): string[] {
  const base = tempFolder();
  return names.map((name) => {
    mkdirSync(join(base, name));
    return join(base, name);
  });
}

function copy(source: string, target: string): Promise<CopiedTree> {
  return copyTree({ source: toBytePath(source), target: toBytePath(target), reflink: "auto" });
}

function compare(root: string, workspace: string, { manifest }: CopiedTree): Promise<ChangeSet> {
  return runTask("compareTree", {
    workspace: toBytePath(workspace),
    root: toBytePath(root),
    manifest: manifest.toBytes(),
    only: null,
    exclude: [],
  });
}

const SKIPPED = [
  { path: "border", reason: "otherMount" },
  { path: "dev/block", reason: "device" },
  { path: "dev/null", reason: "device" },
  { path: "fifo", reason: "fifo" },
];

describe("copy", () => {
  test("takes links, modes, times and empty entries over, and stops at special files and borders (R261)", async () => {
    const [source = "", target = ""] = makeFolders("source", "target");
    shell(source, TREE);
    await withBorder(source, async () => {
      const { skipped } = await copy(source, target);
      expect(skipped.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(SKIPPED);
      expectOracleEqual(
        takeOracle(source, { exclude: ["border"] }).filter(isOrdinary),
        takeOracle(target).filter(isOrdinary),
      );
      expect(
        shell(target, "find . ! -type f ! -type d ! -type l; ls border 2>&1 || true"),
      ).not.toContain("foreign");
    });
  });

  test("does not copy over what an earlier one left (R261)", async () => {
    const [source = "", target = ""] = makeFolders("source", "target");
    shell(source, TREE);
    shell(target, "mkdir plain; printf remains > plain/a.txt");
    await expect(copy(source, target)).rejects.toMatchObject({ code: "EEXIST" });
    expect(shell(target, "cat plain/a.txt")).toBe("remains");
  });
});

describe("diff", () => {
  test("tells each edit, and neither special files nor what is behind a border (R261)", async () => {
    const [source = "", target = ""] = makeFolders("source", "target");
    shell(source, TREE);
    await withBorder(source, async () => {
      const copied = await copy(source, target);
      expect((await compare(source, target, copied)).changes).toEqual([]);
      shell(target, `${EDIT}; mkfifo new/fifo; mknod new/null c 1 3`);
      const { changes, skipped } = await compare(source, target, copied);
      expect(
        Object.fromEntries(
          changes.map(({ path, before, after }) => [path, [before?.type, after?.type]]),
        ),
      ).toEqual({
        "": ["directory", "directory"],
        closed: ["directory", "directory"],
        empty: ["directory", undefined],
        "hard-1": ["file", undefined],
        links: ["directory", "directory"],
        "links/broken": ["symlink", "symlink"],
        "links/loop": ["symlink", "symlink"],
        "links/to-file": ["symlink", "symlink"],
        new: [undefined, "directory"],
        "new/empty": [undefined, "directory"],
        "new/nothing": [undefined, "file"],
        "new/out": [undefined, "symlink"],
        plain: ["directory", "directory"],
        "plain/a.txt": ["file", "directory"],
        "plain/b.txt": ["file", "file"],
        "plain/deep/blob": ["file", "file"],
        "plain/nothing": ["file", "file"],
      });
      expect(skipped).toEqual([
        { path: "new/fifo", reason: "fifo" },
        { path: "new/null", reason: "device" },
      ]);
    });
  });
});

describe("backup and restore", () => {
  test("bring everything back exactly, beside special files and borders (R261)", async () => {
    const fixture = makeFixture(TREE, EDIT);
    const request = requestFor(fixture, "clone");
    const exclude = ["border"];
    const [old, wanted] = [fixture.root, fixture.work].map((tree) => takeOracle(tree, { exclude }));
    await withBorder(fixture.root, () => {
      stageChanges(request);
      expect(applySteps(request)).toMatchObject({ failure: null, shelved: [] });
      expectOracleEqual(wanted ?? [], takeOracle(fixture.root, { exclude }));
      expect(reverseSteps(request)).toMatchObject({ failure: null, shelved: [] });
      expectOracleEqual(old ?? [], takeOracle(fixture.root, { exclude }));
    });
  });

  test("are not hindered by what a crash left, and take it for nothing of theirs (R261)", () => {
    const fixture = makeFixture(AWKWARD_TREE, EDIT);
    const [crashed, request] = ["crashed", "stage"].map((name) =>
      requestFor(fixture, "clone", { stage: join(fixture.area, name) as BytePath }),
    );
    if (crashed === undefined || request === undefined) throw new Error("no request");
    const [old, wanted] = [takeOracle(fixture.root), takeOracle(fixture.work)];
    stageChanges(crashed);
    stageChanges(request);
    expect(applySteps(request)).toMatchObject({ failure: null, shelved: [] });
    expectOracleEqual(wanted, takeOracle(fixture.root));
    expect(reverseSteps(request)).toMatchObject({ failure: null, shelved: [] });
    expectOracleEqual(old, takeOracle(fixture.root));
    expect(abandonStage(crashed)).toEqual({ stuck: [], remaining: [] });
    expect(abandonStage(request)).toEqual({ stuck: [], remaining: [] });
    expect(isStageGone(fixture)).toBe(true);
    expectOracleEqual(old, takeOracle(fixture.root));
  });
});

describe.each([...PLAIN, KERNEL])("checkpoints of $name", (subject) => {
  test("hold everything exactly, beside special files, borders and remains (R261)", async () => {
    const folder = tempFolder();
    const [real, kept] = [join(folder, "real"), join(folder, "kept")];
    mkdirSync(real);
    shell(real, TREE);
    await withBorder(real, async () => {
      await using bench = await openBench(subject, real, join(folder, "state"));
      const { sandbox } = bench;
      shell(await sandbox.getPath(), EDIT);
      await sandbox.checkpoint("edited");
      const work = await sandbox.getPath();
      execFileSync("cp", ["-a", "--one-file-system", work, kept]);
      shell(work, "rm -rf plain links closed new; printf other > hard-1; mkfifo fifo2");
      // As a process that was killed would leave them.
      shell(
        bench.directory,
        "for name in g2 b-x c-x l/7 try; do mkdir -p $name/tree; printf x > $name/tree/x; done",
      );
      await sandbox.restoreCheckpoint("edited");
      const restored = takeOracle(await sandbox.getPath(), { exclude: ["border"] });
      expectOracleEqual(takeOracle(kept).filter(isOrdinary), restored.filter(isOrdinary));
      await sandbox.commit({ policy: { outwardLinks: "allow" } });
      expectOracleEqual(
        takeOracle(kept).filter(isOrdinary),
        takeOracle(real, { exclude: ["border"] }).filter(isOrdinary),
      );
      expect(shell(real, "stat -c %F dev/null dev/block fifo")).toBe(
        "character special file\nblock special file\nfifo\n",
      );
    });
  });
});
