import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { LAYERED_MODES, runIn, runInView } from "./modes.ts";
import { type TestSandbox, at, makeSandbox } from "./sandbox.ts";

async function makeTree(
  mode: (typeof LAYERED_MODES)[number],
  fill = "mkdir -p d/e; echo a >a; echo b >d/b; echo c >d/e/c; ln -s a link",
): Promise<TestSandbox> {
  const root = join(tempFolder(), "real");
  mkdirSync(root);
  runIn(root, fill);
  return makeSandbox(root, { mode });
}

/** Changes as `path: type before -> type after`, implied ones left out. */
async function changesOf({ workspace, place }: TestSandbox): Promise<string[]> {
  const { changes } = await workspace.changes(place);
  return changes
    .filter(({ implied }) => implied !== true)
    .map(({ path, before, after }) => `${path}: ${before?.type ?? "-"} -> ${after?.type ?? "-"}`);
}

describe.each(LAYERED_MODES)("in mode %s", (mode) => {
  it("sees nothing in a fresh sandbox, nor in copies that equal their base", async () => {
    await using sandbox = await makeTree(mode);
    expect(await changesOf(sandbox)).toEqual([]);
    await runInView(
      sandbox,
      "chmod 600 a; chmod 644 a; touch -r d/b keep; echo x >d/b; echo b >d/b; touch -r keep d/b; rm keep",
    );
    const { changes } = await sandbox.workspace.changes(sandbox.place);
    expect(changes.map(({ path }) => path).filter((path) => path !== "" && path !== "d")).toEqual(
      [],
    );
  });

  it("lists every entry of a removed folder and of one that was replaced (R73)", async () => {
    await using sandbox = await makeTree(mode);
    await runInView(sandbox, "rm -r d; mkdir d; echo new >d/b; echo more >d/new");
    expect(await changesOf(sandbox)).toEqual([
      "d/b: file -> file",
      "d/e: directory -> -",
      "d/e/c: file -> -",
      "d/new: - -> file",
    ]);
    await runInView(sandbox, "rm -r d");
    expect(await changesOf(sandbox)).toEqual([
      "d: directory -> -",
      "d/b: file -> -",
      "d/e: directory -> -",
      "d/e/c: file -> -",
    ]);
  });

  it("takes a renamed folder for removed and added entries, and knows where they come from (R73)", async () => {
    await using sandbox = await makeTree(mode);
    await runInView(sandbox, "mv d moved; echo edit >>moved/b");
    const { changes } = await sandbox.workspace.changes(sandbox.place);
    expect(await changesOf(sandbox)).toEqual([
      "d: directory -> -",
      "d/b: file -> -",
      "d/e: directory -> -",
      "d/e/c: file -> -",
      "moved: - -> directory",
      "moved/b: - -> file",
      "moved/e: - -> directory",
      "moved/e/c: - -> file",
    ]);
    for (const { source } of changes) {
      if (source !== null) runIn("/", `test -e "${displayPath(source)}"`);
    }
    if (mode !== "kernel") return;
    // Only root's overlays can rename a folder of the base; elsewhere `mv` copies it.
    const kept = changes.find(({ path }) => path === "moved/e/c");
    expect(kept).toMatchObject({ movedFrom: "d/e/c", take: "clone" });
    expect(displayPath(kept?.source ?? at(""))).toBe(join(sandbox.root, "d/e/c"));
  });

  it.each([
    [
      "a file by a folder",
      "rm a; mkdir a; echo x >a/x",
      ["a: file -> directory", "a/x: - -> file"],
    ],
    ["a file by a link", "rm a; ln -s d a", ["a: file -> symlink"]],
    ["a link by a file", "rm link; echo x >link", ["link: symlink -> file"]],
    [
      "a full folder by a file",
      "rm -r d; echo x >d",
      ["d: directory -> file", "d/b: file -> -", "d/e: directory -> -", "d/e/c: file -> -"],
    ],
  ])("sees %s replaced", async (_, line, expected) => {
    await using sandbox = await makeTree(mode);
    await runInView(sandbox, line);
    expect(await changesOf(sandbox)).toEqual(expected);
  });

  it("links the names of one new file, and notes a hard link of the base that is split", async () => {
    await using sandbox = await makeTree(mode, "echo one >one; ln one two; echo other >other");
    await runInView(
      sandbox,
      "echo new >new; ln new second; ln new third; echo edit >>one; ln other alias",
    );
    const { changes } = await sandbox.workspace.changes(sandbox.place);
    const found = changes.filter(({ implied }) => implied !== true);
    expect(found.map(({ path, linkTo }) => [path, linkTo])).toEqual([
      ["alias", "other"],
      ["new", undefined],
      ["one", undefined],
      ["second", "new"],
      ["third", "new"],
      // fuse-overlayfs keeps hard links of the base, the kernel splits them.
      ...(mode === "fuse" ? [["two", "one"]] : []),
    ]);
    const split = found.filter(({ notes }) => notes?.includes("hard link split"));
    expect(split.map(({ path }) => path)).toEqual(mode === "fuse" ? [] : ["one"]);
    // A file that the sandbox still has under another name must not become a file of the real tree.
    expect(new Set(found.filter(({ path }) => path !== "one").map(({ take }) => take))).toEqual(
      new Set(["clone"]),
    );
  });

  it("keeps a file of a renamed folder linked with its name outside (R70)", async () => {
    await using sandbox = await makeTree(
      mode,
      "mkdir -p d other; echo one >d/one; ln d/one d/two; ln d/one other/three; ln d/one four; " +
        "echo lone >d/lone; ln d/lone gone; ln d/lone five",
    );
    // The copy of `five` equals its base, but is a file of its own.
    await runInView(
      sandbox,
      "mv d moved; echo edit >>four; rm gone; chmod 600 five; chmod 644 five",
    );
    const { changes } = await sandbox.workspace.changes(sandbox.place);
    const links = changes.map(({ path, linkTo }) => [path, linkTo]);
    // Only root's overlays can rename a folder of the base; elsewhere `mv` copies it, and the copies are new files.
    const first = mode === "kernel" ? "other/three" : undefined;
    expect(links.filter(([path]) => path?.startsWith("moved/"))).toEqual([
      ["moved/lone", undefined],
      ["moved/one", first],
      ["moved/two", first ?? "moved/one"],
    ]);
  });

  it("skips special files of the sandbox, and keeps those of the real tree", async () => {
    await using sandbox = await makeTree(mode, "mkfifo pipe; echo a >a");
    await runInView(sandbox, "mkfifo new; rm a; mkfifo a");
    const { changes, skipped } = await sandbox.workspace.changes(sandbox.place);
    expect(skipped).toEqual([
      { path: "a", reason: "fifo" },
      { path: "new", reason: "fifo" },
    ]);
    expect(changes.filter(({ implied }) => implied !== true).map(({ path }) => path)).toEqual([
      "a",
    ]);
    await expect(sandbox.workspace.read(sandbox.place, at("pipe"))).rejects.toMatchObject({
      code: "SANDBOX_PATH",
      data: { reason: "special" },
    });
  });

  it("keeps links as text and never leads over one (R227, R229)", async () => {
    const secret = join(tempFolder(), "secret");
    mkdirSync(secret);
    runIn(secret, "echo unspeakable >file");
    await using sandbox = await makeTree(mode, `ln -s "${secret}" out; ln -s "${secret}/file" f`);
    const { workspace, place } = sandbox;
    for (const path of ["out/file", "f"]) {
      await expect(workspace.read(place, at(path))).rejects.toMatchObject({ code: "PATH_ESCAPE" });
    }
    const refused = { code: expect.stringMatching(/^(?:PATH_ESCAPE|SANDBOX_PATH)$/) as string };
    await expect(workspace.write(place, at("out/new"), Buffer.from("x"))).rejects.toMatchObject(
      refused,
    );
    await expect(workspace.write(place, at("f"), Buffer.from("x"))).rejects.toMatchObject(refused);
    await expect(workspace.list(place, at("out"))).rejects.toMatchObject(refused);
    await expect(workspace.remove(place, at("out/file"))).rejects.toMatchObject(refused);
    expect(await workspace.stat(place, at("out"))).toMatchObject({
      type: "symlink",
      target: secret,
    });
    expect(runIn(secret, "ls -A; cat file")).toBe("file\nunspeakable\n");
    expect(runIn(displayPath(place.directory), "grep -r unspeakable . || true")).toBe("");
  });

  it("gives copies of files no special bits, and does not lose them (R231)", async () => {
    await using sandbox = await makeTree(
      mode,
      "echo a >tool; chmod 4755 tool; mkdir d; chmod 1777 d",
    );
    const { workspace, place } = sandbox;
    await workspace.write(place, at("tool"), Buffer.from("new\n"));
    await workspace.write(place, at("d/x"), Buffer.from("x\n"));
    const layers = join(displayPath(place.directory), "l");
    expect(runIn(layers, "find . -type f -perm /7000")).toBe("");
    expect(await workspace.stat(place, at("tool"))).toMatchObject({ mode: 0o4755 });
    const { changes } = await workspace.changes(place);
    const tool = changes.find(({ path }) => path === "tool");
    expect(tool).toMatchObject({ before: { mode: 0o4755 }, after: { mode: 0o4755 } });
  });

  it("never changes the real tree", async () => {
    await using sandbox = await makeTree(mode);
    const before = takeOracle(sandbox.root);
    const { workspace, place } = sandbox;
    await workspace.write(place, at("d/e/new"), Buffer.from("x"));
    await workspace.rename(place, at("d"), at("z/d"));
    await workspace.remove(place, at("a"));
    await workspace.discard(place);
    expectOracleEqual(before, takeOracle(sandbox.root));
  });
});
