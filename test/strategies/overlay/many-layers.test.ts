import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { checkConflicts } from "../../../src/tree/conflicts.ts";
import { type Oracle, expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { LAYERED_MODES, runIn, runInView } from "./modes.ts";
import { at, makeSandbox } from "./sandbox.ts";
import { walkView } from "./walk.ts";

const CHECKPOINTS = 70;
/** Those that are restored, in this order. */
const RESTORED = [0, 69, 41, 66, 12, 64];

it.each(LAYERED_MODES)(
  "keeps any number of checkpoints over few layers in mode %s, and all of them can be restored (R199)",
  async (mode) => {
    const root = join(tempFolder(), "real");
    mkdirSync(root);
    runIn(
      root,
      "mkdir -p d/e f g; echo a >a; echo b >d/b; echo c >d/e/c; echo x >f/x; echo y >g/y",
    );
    const original = takeOracle(root);
    await using sandbox = await makeSandbox(root, { mode });
    const { workspace, place } = sandbox;
    await runInView(
      sandbox,
      "mv d moved; rm g/y; rm -r f; mkdir f; echo new >f/new; mkfifo pipe; ln a hard",
    );
    const states = new Map<number, Oracle>();
    const shown = async (): Promise<Oracle> =>
      (await walkView(sandbox)).filter(({ path }) => path !== "pipe");
    for (let number = 0; number < CHECKPOINTS; number++) {
      await workspace.write(place, at(`n/${number % 7}`), Buffer.from(`${number}\n`));
      if (number % 10 === 3) await workspace.remove(place, at(`n/${number % 7}`));
      if (number === 40) await workspace.rename(place, at("moved"), at("n/again"));
      if (number === 50) await workspace.write(place, at("g/z"), Buffer.from("z\n"));
      await workspace.checkpoint(place, `number ${number}`);
      if (RESTORED.includes(number)) states.set(number, await shown());
    }
    expect(await workspace.stat(place, at("pipe"))).toMatchObject({ special: "fifo" });
    for (const number of RESTORED) {
      await workspace.restore(place, `number ${number}`);
      expectOracleEqual(states.get(number) ?? [], await shown());
    }
    await workspace.restore(place, "number 69");
    await runInView(
      sandbox,
      "cat n/again/e/c f/new; ! test -e g/y; ! test -e d; stat -c %F pipe; echo more >>n/again/b",
    );
    for (let number = 0; number < CHECKPOINTS - 1; number++) {
      await workspace.deleteCheckpoint(place, `number ${number}`);
    }
    expect(readdirSync(join(displayPath(place.directory), "l")).length).toBeLessThan(10);
    // Who was there first is still known: a file beside the edited one is no conflict, a swapped folder is.
    runIn(root, "echo new >g/sibling; echo new >sibling");
    const check = async (): Promise<string[]> => {
      const { changes } = await workspace.changes(place);
      expect(changes.map(({ path }) => path)).toContain("g/z");
      const { conflicts } = await checkConflicts(place, changes, await workspace.baseCheck(place));
      return conflicts.map(({ change, reason }) => `${change.path}: ${reason}`);
    };
    expect(await check()).toEqual([]);
    runIn(root, "mv g away; cp -a away g");
    expect(await check()).toContain("g/z: ancestorReplaced");
    runIn(root, "rm -r g");
    expect(await check()).toEqual(["g: missing", "g/z: missing"]);
    runIn(root, "mv away g; rm sibling g/sibling");
    expectOracleEqual(original, takeOracle(root), { ignore: ["directoryMtimes"] });
  },
  120_000,
);
