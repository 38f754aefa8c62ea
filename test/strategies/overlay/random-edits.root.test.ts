import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import type { OverlayMode } from "../../../src/strategies/overlay/mode-names.ts";
import { lowerLayers } from "../../../src/strategies/overlay/mounts.ts";
import { requireState } from "../../../src/strategies/overlay/sandbox-files.ts";
import { type Editor, startEditor } from "../../property/editor.ts";
import { firstSeed } from "../../property/first-seed.ts";
import { mountFileSystem } from "../../support/loop.ts";
import { type Oracle, expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { buildProgram } from "../../support/program.ts";
import { isWholeRun } from "../../support/sample-points.ts";
import { applyChanges } from "./expected-view.ts";
import { type TestSandbox, makeSandbox } from "./sandbox.ts";
import { walkView } from "./walk.ts";

const EDITS = 8;
const EDIT_TREE = new URL("../../property/programs/edit-tree.ts", import.meta.url);
const seed = firstSeed();

/**
 * Names of one file that the changes do not link. The other way round is right: a copy-up splits a hard link of the
 * base, and a copy that equals its base is no change, so that the real link stays.
 */
function missedLinks(shown: Oracle, expected: Oracle): string[] {
  const groups = new Map(expected.map(({ path, links }) => [path, links ?? []]));
  return shown.flatMap(({ path, links }) =>
    (links ?? []).filter((other) => other !== path && groups.get(path)?.includes(other) !== true),
  );
}

/** How edits reach the layers in one mode, and how a fresh mount shows them. */
interface Subject {
  readonly mode: OverlayMode;
  readonly rounds: number;
  edit(editor: Editor, sandbox: TestSandbox, seed: number): Promise<void>;
  /** The view in the eyes of whoever mounts the layers now. */
  look(sandbox: TestSandbox): Promise<Oracle>;
}

const text = (path: string): string => Buffer.from(path, "latin1").toString("utf8");

const throughPath = {
  edit: async (editor: Editor, { workspace, place }: TestSandbox, seed: number): Promise<void> =>
    editor.edit(text(await workspace.path(place)), seed, EDITS),
  look: async ({ workspace, place }: TestSandbox): Promise<Oracle> =>
    takeOracle(text(await workspace.path(place))),
};

/** See fuse-link-loops.sh and fuse-remade-folders.sh in test/limits. */
const throughFuse = {
  ...throughPath,
  edit: async (editor: Editor, { workspace, place }: TestSandbox, seed: number): Promise<void> =>
    editor.edit(text(await workspace.path(place)), seed, EDITS, {
      linkLoops: false,
      remadeFolders: false,
    }),
};

/** The edits are made by a process in its own namespaces; the test itself mounts the layers to look at them. */
const throughNamespace = {
  edit: async (_: Editor, { workspace, place }: TestSandbox, seed: number): Promise<void> => {
    const program = await buildProgram(fileURLToPath(EDIT_TREE));
    const input = Buffer.from(
      `${JSON.stringify({ root: ".", seed, count: EDITS, linkLoops: true, remadeFolders: true })}\n`,
    );
    const done = await workspace.runInside(place, [process.execPath, program], { input });
    // Inside there is no privilege: files without write permission stop the edits early, which is fine here.
    expect(done.stdout.toString()).toMatch(/^ok$|permission denied|not permitted/im);
  },
  look: async ({ place }: TestSandbox): Promise<Oracle> => {
    const state = await requireState(place);
    const lower = [...lowerLayers(state).map((name) => `l/${name}`), "b"].join(":");
    const options = `userxattr,lowerdir=${lower},upperdir=l/${state.upper},workdir=w`;
    const cwd = text(place.directory);
    const mount = ["-t", "overlay", "overlay", "-o", options, "m"];
    execFileSync("mount", mount, { cwd });
    try {
      return takeOracle(`${cwd}/m`);
    } finally {
      execFileSync("umount", ["m"], { cwd });
    }
  },
};

const SUBJECTS: readonly Subject[] = [
  { mode: "kernel", rounds: isWholeRun ? 80 : 24, ...throughPath },
  { mode: "userns", rounds: isWholeRun ? 20 : 8, ...throughNamespace },
  { mode: "fuse", rounds: isWholeRun ? 20 : 8, ...throughFuse },
];

/** Edits through mounts, then asks our own calls, without a mount, what a fresh mount shows. */
async function checkRound(
  editor: Editor,
  subject: Subject,
  folder: string,
  number: number,
): Promise<void> {
  const root = join(folder, `real-${number}`);
  mkdirSync(root);
  // Under a live fuse-overlayfs an edit of a hard-linked base file shows under one of its names only.
  const isFuse = subject.mode === "fuse";
  await editor.edit(root, number, 30, { hardLinks: !isFuse, linkLoops: !isFuse });
  const original = takeOracle(root);
  await using sandbox = await makeSandbox(root, { mode: subject.mode });
  const { workspace, place } = sandbox;
  for (let batch = 1; batch <= 4; batch++) {
    await subject.edit(editor, sandbox, number + batch);
    const live = await workspace.changes(place);
    await workspace.quiesce(place, "commit");
    const quiet = await workspace.changes(place);
    expect(quiet.changes.map(({ path }) => path)).toEqual(live.changes.map(({ path }) => path));
    const own = await walkView(sandbox);
    const shown = await subject.look(sandbox);
    await workspace.quiesce(place, "commit");
    expectOracleEqual(shown, own, { ignore: ["hardLinks"] });
    const expected = applyChanges(original, quiet.changes);
    expectOracleEqual(shown, expected, { ignore: ["hardLinks"] });
    expect(missedLinks(shown, expected)).toEqual([]);
    if ((number + batch) % 2 === 0) await workspace.checkpoint(place, `after-${batch}`);
  }
  expectOracleEqual(original, takeOracle(root));
}

for (const subject of SUBJECTS) {
  it(`reads the layers of ${subject.mode} mounts as the mounts show them, over random edits (R70, R73)`, async () => {
    process.stdout.write(`random edits in mode ${subject.mode}: COFFERDAM_SEED=${seed}\n`);
    // In memory, because taking a mount away makes the kernel write the whole disk out.
    await using memory = mountFileSystem("tmpfs", { megabytes: 512 });
    await using editor = await startEditor();
    for (let round = 0; round < subject.rounds; round++) {
      try {
        await checkRound(editor, subject, memory.mountPoint, seed + round * 10);
      } catch (cause) {
        throw new Error(`COFFERDAM_SEED=${seed + round * 10} fails`, { cause });
      }
    }
  }, 300_000);
}
