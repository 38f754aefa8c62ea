import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkConflicts } from "../../../src/tree/conflicts.ts";
import { tempFolder } from "../../support/temp.ts";
import { LAYERED_MODES, runIn, runInView } from "./modes.ts";
import { type TestSandbox, at, makeSandbox } from "./sandbox.ts";

/** How the sandbox edits: by our own calls on the layers, or by programs in a mount. */
const WAYS = ["calls", "programs"] as const;

async function makeTree(mode: (typeof LAYERED_MODES)[number]): Promise<TestSandbox> {
  const root = join(tempFolder(), "real");
  mkdirSync(root);
  runIn(root, "mkdir d other e; echo f >d/f; echo g >d/g; echo theirs >other/f; echo top >top");
  return makeSandbox(root, { mode });
}

async function edit(sandbox: TestSandbox, way: (typeof WAYS)[number], path: string): Promise<void> {
  if (way === "calls") {
    await sandbox.workspace.write(sandbox.place, at(path), Buffer.from("mine\n"));
  } else await runInView(sandbox, `mkdir -p "$(dirname "${path}")"; echo mine >"${path}"`);
}

/** Conflicts as `path: reason`, as a commit would find them; others may act between its look and its check. */
async function conflictsOf(sandbox: TestSandbox, meanwhile?: string): Promise<string[]> {
  const { workspace, place } = sandbox;
  const { changes } = await workspace.changes(place);
  if (meanwhile !== undefined) runIn(sandbox.root, meanwhile);
  const base = await workspace.baseCheck(place);
  const { conflicts } = await checkConflicts(place, changes, base);
  return conflicts.map(({ change, reason }) => `${change.path}: ${reason}`);
}

describe.each(LAYERED_MODES)("in mode %s", (mode) => {
  describe.each(WAYS)("with edits by %s", (way) => {
    it("sees no conflict while nobody else touches the tree", async () => {
      await using sandbox = await makeTree(mode);
      await edit(sandbox, way, "d/f");
      await edit(sandbox, way, "new/below/x");
      expect(await conflictsOf(sandbox)).toEqual([]);
    });

    it("lets others add files beside the edited one, at every level (R43)", async () => {
      await using sandbox = await makeTree(mode);
      await edit(sandbox, way, "d/f");
      runIn(sandbox.root, "echo new >d/sibling; echo new >new; rm d/g");
      expect(await conflictsOf(sandbox)).toEqual([]);
    });

    it("finds an edit of the same file by somebody else (R43)", async () => {
      await using sandbox = await makeTree(mode);
      await edit(sandbox, way, "d/f");
      runIn(sandbox.root, "echo theirs >>d/f; echo theirs >>top");
      expect(await conflictsOf(sandbox)).toEqual(["d/f: changed"]);
    });

    it("finds that somebody else put another folder in the place of the edited one (R43)", async () => {
      await using sandbox = await makeTree(mode);
      await edit(sandbox, way, "d/f");
      runIn(sandbox.root, "mv d away; mv other d");
      expect(await conflictsOf(sandbox)).toEqual(["d/f: ancestorReplaced"]);
    });

    it("finds that somebody else removed the edited file", async () => {
      await using sandbox = await makeTree(mode);
      await edit(sandbox, way, "d/f");
      runIn(sandbox.root, "rm d/f");
      expect(await conflictsOf(sandbox)).toEqual(["d/f: missing"]);
    });

    it.each([
      { what: "moved", theirs: "mv d papers", reasons: ["missing", "missing"] },
      { what: "removed", theirs: "rm -r d", reasons: ["missing", "missing"] },
      {
        what: "replaced by a file",
        theirs: "rm -r d; echo theirs >d",
        reasons: ["exists", "ancestorReplaced"],
      },
    ])(
      "finds that the folder of an edited file was $what by somebody else (R43)",
      async (clash) => {
        await using sandbox = await makeTree(mode);
        await edit(sandbox, way, "d/f");
        await edit(sandbox, way, "d/new/below");
        runIn(sandbox.root, clash.theirs);
        const [folder, below] = clash.reasons;
        expect(await conflictsOf(sandbox)).toEqual([
          `d: ${folder}`,
          ...["d/f", "d/new", "d/new/below"].map((path) => `${path}: ${below}`),
        ]);
      },
    );

    it("finds that somebody else removed the folder in which the sandbox adds a file (R43)", async () => {
      await using sandbox = await makeTree(mode);
      await edit(sandbox, way, "d/new");
      await sandbox.workspace.checkpoint(sandbox.place, "one");
      await edit(sandbox, way, "d/newer");
      runIn(sandbox.root, "rm -r d");
      expect(await conflictsOf(sandbox)).toEqual([
        "d: missing",
        "d/new: missing",
        "d/newer: missing",
      ]);
    });

    it("adds a new folder, whatever others do beside it", async () => {
      await using sandbox = await makeTree(mode);
      await edit(sandbox, way, "new/below/x");
      await sandbox.workspace.checkpoint(sandbox.place, "one");
      await edit(sandbox, way, "new/below/y");
      await edit(sandbox, way, "new/beside/z");
      runIn(sandbox.root, "echo theirs >theirs; rm -r d");
      expect(await conflictsOf(sandbox)).toEqual([]);
    });

    it("finds that somebody else made the file that the sandbox adds", async () => {
      await using sandbox = await makeTree(mode);
      await edit(sandbox, way, "d/new");
      runIn(sandbox.root, "echo theirs >d/new");
      expect(await conflictsOf(sandbox)).toEqual(["d/new: exists"]);
    });

    it("takes recorded identities for the base of touched paths", async () => {
      await using sandbox = await makeTree(mode);
      await edit(sandbox, way, "d/f");
      // As taking a commit back does: the old file comes back under a new change time.
      runIn(sandbox.root, "mv d/f aside; echo committed >d/f; mv aside d/f");
      expect(await conflictsOf(sandbox)).toEqual(["d/f: changed"]);
      const { changes } = await sandbox.workspace.changes(sandbox.place);
      const [change] = changes.filter(({ path }) => path === "d/f");
      await sandbox.workspace.rebase(sandbox.place, new Map([[at("d/f"), change?.before ?? null]]));
      expect(await conflictsOf(sandbox)).toEqual([]);
      runIn(sandbox.root, "echo theirs >>d/f");
      expect(await conflictsOf(sandbox)).toEqual(["d/f: changed"]);
      runIn(sandbox.root, "rm d/f");
      expect(await conflictsOf(sandbox)).toEqual(["d/f: missing"]);
    });

    it("takes a recorded absence for the base of a path", async () => {
      await using sandbox = await makeTree(mode);
      await edit(sandbox, way, "d/new");
      await sandbox.workspace.rebase(sandbox.place, new Map([[at("d/new"), null]]));
      expect(await conflictsOf(sandbox)).toEqual([]);
      runIn(sandbox.root, "echo theirs >d/new");
      expect(await conflictsOf(sandbox)).toEqual(["d/new: exists"]);
    });

    it("judges by what is there at the check, not at the look before it (R43)", async () => {
      await using sandbox = await makeTree(mode);
      await edit(sandbox, way, "d/f");
      await edit(sandbox, way, "d/new");
      await edit(sandbox, way, "other/f");
      const meanwhile = "rm d/f; echo theirs >d/new; rm -r other";
      expect(await conflictsOf(sandbox, meanwhile)).toEqual([
        "d/f: missing",
        "d/new: exists",
        "other/f: missing",
      ]);
    });
  });

  it("finds that others changed or replaced a folder whose mode the sandbox changes", async () => {
    await using sandbox = await makeTree(mode);
    await runInView(sandbox, "chmod 700 e");
    expect(await conflictsOf(sandbox)).toEqual([]);
    runIn(sandbox.root, "chmod 711 e");
    expect(await conflictsOf(sandbox)).toEqual(["e: changed"]);
    runIn(sandbox.root, "mv e away; mkdir -m 755 e");
    expect(await conflictsOf(sandbox)).toEqual(["e: ancestorReplaced"]);
  });

  it("sees no conflict in a folder to which others did the same, or only added names", async () => {
    await using sandbox = await makeTree(mode);
    await runInView(sandbox, "touch -d 2001-02-03 e");
    const isTouched = async (meanwhile: string): Promise<string[]> =>
      (await conflictsOf(sandbox, meanwhile)).filter((conflict) => conflict.startsWith("e:"));
    expect(await isTouched("echo theirs >e/theirs")).toEqual([]);
  });

  it("finds that the resource's own directory, whose mode the sandbox changes, is another one", async () => {
    await using sandbox = await makeTree(mode);
    await runInView(sandbox, "chmod 711 .");
    expect(await conflictsOf(sandbox)).toEqual([]);
    runIn(sandbox.root, "cp -a . ../copy; cd ..; mv real away; mv copy real");
    expect(await conflictsOf(sandbox)).toEqual([": ancestorReplaced"]);
  });

  it("finds an edit of a file that the sandbox removes, and a file added below a removed folder", async () => {
    await using sandbox = await makeTree(mode);
    const { workspace, place, root } = sandbox;
    await workspace.remove(place, at("top"));
    await workspace.remove(place, at("d"));
    expect(await conflictsOf(sandbox)).toEqual([]);
    runIn(root, "echo theirs >>top; echo theirs >d/theirs");
    expect(await conflictsOf(sandbox)).toEqual(["d: changed", "d/theirs: changed", "top: changed"]);
  });

  it("takes a renamed file for an added one, whatever others do beside it", async () => {
    await using sandbox = await makeTree(mode);
    await runInView(sandbox, "mv d/f d/renamed; ln d/g d/second; mv e moved");
    runIn(sandbox.root, "echo new >d/sibling; echo new >new");
    expect(await conflictsOf(sandbox)).toEqual([]);
  });

  it("takes a renamed folder for an added one, also when it is edited after a checkpoint", async () => {
    await using sandbox = await makeTree(mode);
    await runInView(sandbox, "mkdir d/sub; mv d moved; rm -r e; mv other e");
    await sandbox.workspace.checkpoint(sandbox.place, "one");
    await edit(sandbox, "calls", "moved/sub/x");
    await runInView(sandbox, "echo mine >moved/f; echo mine >e/f; mkdir e/new; echo mine >e/new/x");
    runIn(sandbox.root, "echo theirs >theirs");
    expect(await conflictsOf(sandbox)).toEqual([]);
  });

  it("takes a file that was added before a checkpoint and edited after it for an added one", async () => {
    await using sandbox = await makeTree(mode);
    await runInView(sandbox, "echo one >d/n");
    await sandbox.workspace.checkpoint(sandbox.place, "one");
    await runInView(sandbox, "echo two >>d/n; mv d/n d/m; echo three >>d/f");
    runIn(sandbox.root, "echo new >d/sibling; echo new >new");
    expect(await conflictsOf(sandbox)).toEqual([]);
    runIn(sandbox.root, "rm d/f");
    expect(await conflictsOf(sandbox)).toEqual(["d/f: missing"]);
  });

  it("refuses everything once the resource's own directory is another one", async () => {
    await using sandbox = await makeTree(mode);
    await edit(sandbox, "calls", "d/f");
    runIn(sandbox.root, "cp -a . ../copy; cd ..; mv real away; mv copy real");
    expect(await conflictsOf(sandbox)).toEqual(["d/f: ancestorReplaced"]);
  });
});
