import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { LAYERED_MODES, runIn, runInView } from "./modes.ts";
import { type TestSandbox, at, makeSandbox } from "./sandbox.ts";
import { walkView } from "./walk.ts";

async function makeTree(mode: (typeof LAYERED_MODES)[number]): Promise<TestSandbox> {
  const root = join(tempFolder(), "real");
  mkdirSync(root);
  runIn(root, "mkdir -p d/e; echo a >a; echo b >d/b; echo c >d/e/c; ln -s a link; mkdir empty");
  return makeSandbox(root, { mode });
}

function layersOf({ place }: TestSandbox): string[] {
  return readdirSync(join(displayPath(place.directory), "l")).toSorted();
}

describe.each(LAYERED_MODES)("in mode %s", (mode) => {
  it("brings back any of several checkpoints in any order, with marks, links, modes and empty folders (R198, R199)", async () => {
    await using sandbox = await makeTree(mode);
    const { workspace, place, root } = sandbox;
    const original = takeOracle(root);
    const states = [];
    const edits = [
      "rm d/b; echo edit >>a; chmod 600 a; mkdir new; ln a hard",
      "rm -r d; mkdir d; echo other >d/b; rm link; ln -s elsewhere link; rmdir empty",
      "mv new moved; rm hard; echo more >>a; echo x >d/x",
    ];
    for (const [index, line] of edits.entries()) {
      await runInView(sandbox, line);
      await workspace.checkpoint(place, `number ${index}`);
      states.push(await walkView(sandbox));
    }
    await runInView(sandbox, "rm -r d moved; echo late >late");
    for (const index of [0, 2, 1, 0]) {
      await workspace.restore(place, `number ${index}`);
      expectOracleEqual(states[index] ?? [], await walkView(sandbox));
      await runInView(sandbox, "echo later >later; rm a");
    }
    expectOracleEqual(original, takeOracle(root));
  });

  it("costs no layer when nothing changed, and gives layers back that nobody needs any more", async () => {
    await using sandbox = await makeTree(mode);
    const { workspace, place } = sandbox;
    await workspace.checkpoint(place, "empty");
    expect(layersOf(sandbox)).toEqual(["1"]);
    await workspace.write(place, at("a"), Buffer.from("one"));
    await workspace.checkpoint(place, "one");
    await workspace.checkpoint(place, "one again");
    expect(layersOf(sandbox)).toEqual(["1", "2"]);
    await workspace.write(place, at("a"), Buffer.from("two"));
    await workspace.checkpoint(place, "two");
    await workspace.restore(place, "empty");
    expect(layersOf(sandbox)).toEqual(["1", "2", "4"]);
    await workspace.deleteCheckpoint(place, "two");
    await workspace.deleteCheckpoint(place, "one");
    expect(layersOf(sandbox)).toEqual(["1", "4"]);
    await workspace.deleteCheckpoint(place, "one again");
    await workspace.deleteCheckpoint(place, "never made");
    expect(layersOf(sandbox)).toEqual(["4"]);
  });

  it("keeps checkpoints when edits are thrown away", async () => {
    await using sandbox = await makeTree(mode);
    const { workspace, place } = sandbox;
    await workspace.write(place, at("d/b"), Buffer.from("kept\n"));
    await workspace.checkpoint(place, "kept");
    await workspace.discard(place);
    expect((await workspace.changes(place)).changes).toEqual([]);
    await workspace.restore(place, "kept");
    expect((await workspace.read(place, at("d/b"))).toString()).toBe("kept\n");
  });
});

it.each(["../x", "/etc/passwd", "", "__proto__", "constructor", "x".repeat(10_000), "a\0b"])(
  "never takes the id %j for a path or a property (R200)",
  async (id) => {
    const [mode] = LAYERED_MODES;
    await using sandbox = await makeTree(mode ?? "userns");
    const { workspace, place } = sandbox;
    await expect(workspace.restore(place, id)).rejects.toMatchObject({
      code: "CHECKPOINT",
      data: { reason: "unknown" },
    });
    const names = readdirSync(displayPath(place.directory)).toSorted();
    await workspace.write(place, at("a"), Buffer.from("kept"));
    await workspace.checkpoint(place, id);
    await expect(workspace.checkpoint(place, id)).rejects.toMatchObject({
      code: "CHECKPOINT",
      data: { reason: "duplicate" },
    });
    await workspace.write(place, at("a"), Buffer.from("later"));
    await workspace.restore(place, id);
    expect((await workspace.read(place, at("a"))).toString()).toBe("kept");
    expect(readdirSync(displayPath(place.directory)).toSorted()).toEqual(
      [...new Set([...names, "live"])].toSorted(),
    );
  },
);
