import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { mountsBelow } from "../../support/leftovers.ts";
import { mountFileSystem } from "../../support/loop.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { runIn } from "./modes.ts";
import { type TestSandbox, at, makeSandbox } from "./sandbox.ts";

const FILL = "mkdir -p d/e; echo a >a; echo b >d/b; echo c >d/e/c; ln -s a link; chmod 640 a";

function makeRoot(name = "real"): string {
  const root = join(tempFolder(), name);
  mkdirSync(root);
  runIn(root, FILL);
  return root;
}

/** Lines of the mount table for a mount point. */
function mountLines(point: string): string[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
  return lines.filter((line) => line.split(" ")[4] === point);
}

/** A process that stands in a directory until it is told to go. */
async function standIn(cwd: string): Promise<{ leave: () => Promise<void> }> {
  const child = spawn("sh", ["-c", "echo here; exec sleep 1000"], {
    cwd,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(child.stdout, "data");
  return {
    leave: async () => {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}

async function pathOf({ workspace, place }: TestSandbox): Promise<string> {
  return displayPath(await workspace.path(place));
}

it("mounts exactly its layers over the real directory and shows it unchanged (R69)", async () => {
  const root = makeRoot();
  await using sandbox = await makeSandbox(root);
  expect(sandbox.metadata).toMatchObject({ mode: "kernel" });
  const merged = await pathOf(sandbox);
  const directory = displayPath(sandbox.place.directory);
  const [line = "", ...more] = mountLines(merged);
  expect(more).toEqual([]);
  expect(line).toContain(" - overlay ");
  const options = line.split(" ").at(-1)?.split(",") ?? [];
  expect(options.filter((option) => /^(?:lower|upper|work)dir/.test(option))).toEqual([
    `lowerdir+=${root}`,
    `upperdir=${directory}/l/1`,
    `workdir=${directory}/w`,
  ]);
  expect(options).toContain("redirect_dir=on");
  expectOracleEqual(takeOracle(root), takeOracle(merged));
});

it("keeps every edit in the upper layer (R70)", async () => {
  const root = makeRoot();
  const before = takeOracle(root);
  await using sandbox = await makeSandbox(root);
  runIn(await pathOf(sandbox), "echo more >>a; rm d/b; mv d/e moved; echo new >new");
  expectOracleEqual(before, takeOracle(root));
  const upper = join(displayPath(sandbox.place.directory), "l/1");
  const held = runIn(upper, "find . -mindepth 1 | sort");
  expect(held.trim().split("\n")).toEqual(["./a", "./d", "./d/b", "./d/e", "./moved", "./new"]);
});

it("gives the mounted directory again without a second mount", async () => {
  await using sandbox = await makeSandbox(makeRoot());
  const merged = await pathOf(sandbox);
  const [before] = mountLines(merged);
  expect(await pathOf(sandbox)).toBe(merged);
  expect(mountLines(merged)).toEqual([before]);
});

it("goes through the mount while it is live, and sees what programs do there", async () => {
  await using sandbox = await makeSandbox(makeRoot());
  const { workspace, place } = sandbox;
  const merged = await pathOf(sandbox);
  await workspace.write(place, at("d/new"), Buffer.from("ours\n"));
  await workspace.rename(place, at("a"), at("renamed"));
  await workspace.remove(place, at("d/e"));
  expect(runIn(merged, "cat d/new renamed; ls d")).toBe("ours\na\nb\nnew\n");
  runIn(merged, "echo theirs >d/new");
  expect((await workspace.read(place, at("d/new"))).toString()).toBe("theirs\n");
  const { changes } = await workspace.changes(place);
  expect(changes.filter(({ take }) => take === "move")).toEqual([]);
  await workspace.quiesce(place, "commit");
  const quiet = await workspace.changes(place);
  expect(quiet.changes.flatMap(({ path, take }) => (take === "move" ? [path] : []))).toEqual([
    "d/new",
    "renamed",
  ]);
});

it("throws edits away and mounts anew in the same mode (R75)", async () => {
  const root = makeRoot();
  await using sandbox = await makeSandbox(root);
  const { workspace, place } = sandbox;
  const merged = await pathOf(sandbox);
  runIn(merged, "rm a; rm -r d; mkdir d; echo other >d/b; echo new >new");
  expect(await workspace.discard(place)).toEqual({ leftovers: [] });
  expect(mountsBelow(displayPath(place.directory))).toEqual([]);
  expect(await pathOf(sandbox)).toBe(merged);
  expectOracleEqual(takeOracle(root), takeOracle(merged));
  expect(mountLines(merged)[0]).toContain(" - overlay ");
  runIn(merged, "echo again >>a");
  expect(readFileSync(join(root, "a"), "utf8")).toBe("a\n");
  const { changes } = await workspace.changes(place);
  expect(changes.map(({ path }) => path)).toEqual(["a"]);
});

describe("while a process stands in the mount", () => {
  it.each([
    ["commit", "SANDBOX_COMMIT", { originalRestored: true }],
    ["rollback", "SANDBOX_ROLLBACK", { reason: "io" }],
    ["cleanup", "SANDBOX_CLEANUP", {}],
  ] as const)(
    "stops %s with one typed error and leaves everything (R77)",
    async (operation, code, data) => {
      await using sandbox = await makeSandbox(makeRoot());
      const { workspace, place } = sandbox;
      const merged = await pathOf(sandbox);
      runIn(merged, "echo edit >>a");
      const holder = await standIn(merged);
      const view = takeOracle(merged);
      try {
        const failure = workspace.quiesce(place, operation);
        await expect(failure).rejects.toMatchObject({ code, data, cause: { code: "EBUSY" } });
        const error: unknown = await failure.catch((thrown: unknown) => thrown);
        expect((error as Error & { cause: Error }).cause.cause).toBeUndefined();
        expect(mountLines(merged)).toHaveLength(1);
        expectOracleEqual(view, takeOracle(merged));
        expect(await workspace.destroy(place)).toEqual([merged]);
        expectOracleEqual(view, takeOracle(merged));
        expect(mountLines(merged)).toHaveLength(1);
      } finally {
        await holder.leave();
      }
      await workspace.quiesce(place, operation);
      expect(mountLines(merged)).toEqual([]);
    },
  );

  it("keeps a checkpoint by copying the layer, marks and all (R198)", async () => {
    const root = makeRoot();
    await using sandbox = await makeSandbox(root);
    const { workspace, place } = sandbox;
    const merged = await pathOf(sandbox);
    const edits =
      "echo edit >>a; ln a hard; rm d/b; mv d/e moved; rm link; mkdir link; chmod 700 d; mkdir empty";
    runIn(merged, edits);
    const holder = await standIn(merged);
    try {
      await workspace.checkpoint(place, "busy");
    } finally {
      await holder.leave();
    }
    const kept = takeOracle(merged);
    runIn(merged, "rm -r moved; echo later >>a; rm hard");
    await workspace.restore(place, "busy");
    expectOracleEqual(kept, takeOracle(await pathOf(sandbox)));
  });
});

it("waits for a program that is just leaving, and takes the mount away then", async () => {
  await using sandbox = await makeSandbox(makeRoot());
  const { workspace, place } = sandbox;
  const merged = await pathOf(sandbox);
  const holder = spawn("sh", ["-c", "echo here; sleep 0.2"], {
    cwd: merged,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const left = once(holder, "close");
  await once(holder.stdout, "data");
  await workspace.quiesce(place, "rollback");
  expect(mountLines(merged)).toEqual([]);
  await left;
});

it("freezes the layer of a mount that nobody uses and mounts again at once (R198)", async () => {
  await using sandbox = await makeSandbox(makeRoot());
  const { workspace, place } = sandbox;
  const merged = await pathOf(sandbox);
  runIn(merged, "echo edit >>a; rm d/b; mv d/e moved");
  const kept = takeOracle(merged);
  await workspace.checkpoint(place, "one");
  expect(mountLines(merged)).toHaveLength(1);
  expectOracleEqual(kept, takeOracle(merged));
  runIn(merged, "echo later >>a; rm -r moved");
  const { changes } = await workspace.changes(place);
  expect(changes.map(({ path }) => path)).toContain("d/e/c");
  await workspace.restore(place, "one");
  expectOracleEqual(kept, takeOracle(await pathOf(sandbox)));
});

it.each([
  "with,comma",
  "with:colon",
  "with\\backslash",
  "with space",
  "with'quote\"s",
  "with\nnewline",
  "-dash",
  "x,upperdir=evil",
  "größe",
])("mounts over and below a directory named %j (R80)", async (name) => {
  const folder = join(tempFolder(), name);
  const root = join(folder, "real", name);
  mkdirSync(root, { recursive: true });
  runIn(root, FILL);
  const before = takeOracle(root);
  await using sandbox = await makeSandbox(root, { area: join(folder, "area") });
  const merged = await pathOf(sandbox);
  const [point] = mountsBelow(Buffer.from(folder).toString("latin1"));
  expect(point).toBe(Buffer.from(merged).toString("latin1"));
  runIn(merged, "echo edit >>a; rm d/b; mv d/e moved");
  expectOracleEqual(before, takeOracle(root));
  await sandbox.workspace.quiesce(sandbox.place, "commit");
  const { changes } = await sandbox.workspace.changes(sandbox.place);
  expect(changes.filter(({ implied }) => implied !== true).map(({ path }) => path)).toEqual([
    "a",
    "d/b",
    "d/e",
    "d/e/c",
    "moved",
    "moved/c",
  ]);
});

it("works on one file and leaves its neighbours alone", async () => {
  const root = makeRoot();
  const before = takeOracle(root);
  await using sandbox = await makeSandbox(root, { only: "a" });
  const { workspace, place } = sandbox;
  const file = await pathOf(sandbox);
  expect(file).toBe(join(displayPath(place.directory), "m/a"));
  runIn(root, `echo edit >>"${file}"; echo stray >"${file}.stray"`);
  await workspace.quiesce(place, "commit");
  const { changes, skipped } = await workspace.changes(place);
  expect(changes.map(({ path }) => path)).toEqual(["a"]);
  expect(skipped).toEqual([{ path: "a.stray", reason: "excluded" }]);
  expectOracleEqual(before, takeOracle(root));
});

describe.each([
  ["inside the resource", "real/d/area"],
  ["beside the resource", "area"],
])("with its area %s", (_, place) => {
  it.each(["kernel", "userns", "fuse"] as const)(
    "shows nothing of its own in mode %s and never lists it, also over checkpoints",
    async (mode) => {
      const root = makeRoot();
      runIn(root, "mkdir -m 700 d/area .state");
      const exclude = ["d/area", ".state"];
      const before = takeOracle(root, { exclude });
      const area = join(root, "..", place);
      await using sandbox = await makeSandbox(root, { mode, area, exclude });
      const { workspace, place: own } = sandbox;
      const merged = await pathOf(sandbox);
      expectOracleEqual(before, takeOracle(merged));
      runIn(merged, "echo edit >>d/b; mkdir .state; echo x >.state/x");
      await workspace.checkpoint(own, "one");
      const edited = takeOracle(await pathOf(sandbox), { exclude });
      runIn(merged, "rm -r d/e; rm a");
      await workspace.restore(own, "one");
      expectOracleEqual(edited, takeOracle(await pathOf(sandbox), { exclude }));
      await workspace.quiesce(own, "commit");
      const { changes } = await workspace.changes(own);
      const listed = changes.filter(({ implied }) => implied !== true);
      expect(listed.map(({ path }) => path)).toEqual(["d/b"]);
      const names = (await workspace.list(own, at("d"))).map(({ name }) => name);
      expect(names).toEqual(["b", "e"]);
      await workspace.remove(own, at("d"));
      const removed = await workspace.changes(own);
      // The folder cannot go while our own area is in it.
      expect(removed.changes.map(({ path }) => path)).not.toContain("d");
      expect(removed.skipped).toContainEqual({ path: "d/area", reason: "excluded" });
      await workspace.discard(own);
      expect((await workspace.changes(own)).changes).toEqual([]);
      expectOracleEqual(before, takeOracle(await pathOf(sandbox)));
      expectOracleEqual(before, takeOracle(root, { exclude }));
    },
  );
});

it("works on a whole mounted disk, whose layers can only lie on it", async () => {
  await using disk = mountFileSystem("ext4");
  const root = disk.mountPoint;
  runIn(root, FILL);
  const exclude = [".cofferdam-0"];
  const before = takeOracle(root);
  {
    await using sandbox = await makeSandbox(root, { area: join(root, ".cofferdam-0"), exclude });
    expect(sandbox.metadata["mode"]).toBe("kernel");
    const merged = await pathOf(sandbox);
    expectOracleEqual(takeOracle(root, { exclude }), takeOracle(merged));
    runIn(merged, "mv d/e moved; echo edit >>a");
    const { changes } = await sandbox.workspace.changes(sandbox.place);
    const listed = changes.filter(({ implied }) => implied !== true);
    expect(listed.map(({ path }) => path)).toEqual(["a", "d/e", "d/e/c", "moved", "moved/c"]);
  }
  runIn(root, "rmdir .cofferdam-0/sandbox .cofferdam-0");
  expectOracleEqual(before, takeOracle(root), { ignore: ["rootMtime"] });
});

it("leaves other mounts inside the resource alone and says so", async () => {
  const root = makeRoot();
  mkdirSync(join(root, "d/disk"));
  runIn(root, "mount -t tmpfs none d/disk; echo theirs >d/disk/file");
  await using sandbox = await makeSandbox(root);
  expect(sandbox.metadata).toMatchObject({ otherMounts: ["d/disk"] });
  const { workspace, place } = sandbox;
  const merged = await pathOf(sandbox);
  expect(runIn(merged, "ls -A d/disk")).toBe("");
  runIn(merged, "rm -r d; echo other >d");
  await workspace.quiesce(place, "commit");
  const { changes, skipped } = await workspace.changes(place);
  expect(changes.map(({ path }) => path)).not.toContain("d/disk");
  expect(changes.map(({ path }) => path)).not.toContain("d/disk/file");
  expect(changes.map(({ path }) => path)).not.toContain("d");
  expect(skipped).toEqual([{ path: "d/disk", reason: "otherMount" }]);
  runIn(root, "umount d/disk");
});

it("keeps an edit of a file with several names under all of them where fuse-overlayfs notes only one", async () => {
  const root = makeRoot();
  runIn(
    root,
    "echo base >one; ln one two; mkdir deep; ln one deep/three; ln one four; ln one five",
  );
  await using sandbox = await makeSandbox(root, { mode: "fuse" });
  const { workspace, place } = sandbox;
  runIn(
    await pathOf(sandbox),
    "ls -R >/dev/null; echo edit >>one; rm four; echo other >x; mv x five",
  );
  await workspace.quiesce(place, "commit");
  const { changes } = await workspace.changes(place);
  const listed = changes.filter(({ implied }) => implied !== true);
  expect(listed.map(({ path, linkTo }) => [path, linkTo])).toEqual([
    ["deep/three", undefined],
    ["five", undefined],
    ["four", undefined],
    ["one", "deep/three"],
    ["two", "deep/three"],
  ]);
  const shown = await pathOf(sandbox);
  expect(runIn(shown, "cat one two deep/three five; stat -c %h one")).toBe(
    `${"base\nedit\n".repeat(3)}other\n3\n`,
  );
});
