import { once } from "node:events";
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openCofferdam } from "../../src/index.ts";
import { startChild } from "../support/child.ts";
import { mountFileSystem } from "../support/loop.ts";
import { nobody } from "../support/nobody.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { shell } from "../strategies/shell.ts";
import { touches, trace } from "../strategies/traced.ts";

/** A folder of the transaction in the sandbox's own one; both names are told to nobody before. */
const OWN_FOLDER = /\/\.cofferdam-0\/sandboxes\/[0-9a-z]{26}\/tx-[0-9a-z]{26}-0\/(entries|kept)$/;
const MINUTES = 60_000;
const NAMES = [
  ...["bak", "old", "orig", "tmp", "new", "backup", "cofferdam", "restore"].flatMap((end) => [
    `real.${end}`,
    `.real.${end}`,
    `real-${end}`,
  ]),
  ...["real~", ".cofferdam", ".cofferdam-0", ".cofferdam-0-1", "cofferdam", "tmp", "tx", "area"],
];

it.each(["overlay", "copy_on_write"])(
  "%s: an undo trusts, follows and deletes nothing that others plant around the resource (R180)",
  async (strategy) => {
    // Everybody may write beside the resource, and the private area has to be found near it.
    await using disk = mountFileSystem("ext4");
    const open = join(disk.mountPoint, "open");
    const [real, victim] = [join(open, "real"), join(disk.mountPoint, "victim")];
    for (const folder of [open, real, victim]) mkdirSync(folder);
    for (const folder of [disk.mountPoint, open]) chmodSync(folder, 0o1777);
    writeFileSync(join(victim, "file"), "precious\n");
    chownSync(join(victim, "file"), nobody.uid, nobody.gid);
    shell(
      real,
      "echo old > file; mkdir d gone; echo old > d/file; echo old > gone/file; ln -s d link",
    );
    const [before, precious] = [takeOracle(real), takeOracle(victim)];
    const state = join(tempFolder(), "state");
    await using coffer = await openCofferdam({ stateDirectory: state, config: false });
    const sandbox = coffer.sandbox(await coffer.create("plan", real, { strategy }));
    const planter = await startChild(
      new URL("./programs/plant.ts", import.meta.url),
      [JSON.stringify({ folders: [open, disk.mountPoint], names: NAMES, victim })],
      { uid: nobody.uid },
    );
    try {
      await once(planter.process.stdout, "data");
      for (let round = 0; round < 8; round++) {
        await sandbox.write("file", `edited ${round}\n`);
        await sandbox.write("d/new/file", "new\n");
        await sandbox.remove("gone/file");
        await sandbox.remove("gone");
        await sandbox.checkpoint(`c${round}`);
        await sandbox.commit();
        expect(readFileSync(join(real, "file"), "utf8")).toBe(`edited ${round}\n`);
        await sandbox.rollback();
        await sandbox.restoreCheckpoint(`c${round}`);
        await sandbox.rollback();
        expectOracleEqual(before, takeOracle(real));
      }
      await sandbox.write("file", "edited\n");
      await sandbox.commit();
    } finally {
      planter.process.stdin.end();
      await planter.result;
    }
    expectOracleEqual(precious, takeOracle(victim));
    expect(shell(disk.mountPoint, "grep -rl edited . || true")).not.toContain("victim");
    const planted = NAMES.flatMap((name) => [join(open, name), join(disk.mountPoint, name)]);
    const list = (): string =>
      shell(
        "/",
        `stat -c '%n %F %i' -- ${planted.map((path) => `'${path}'`).join(" ")} 2>&1 || true`,
      );
    const there = list();
    expect(there).toContain(`${open}/real.bak `);

    const calls = await trace(state, ["rollback"], ["rename", "renameat", "renameat2"]);
    const moved = calls.filter((call) => touches(call, real));
    expect(moved.length).toBeGreaterThan(0);
    for (const { line, paths } of moved) {
      const own = paths.filter((path) => path !== real && !path.startsWith(`${real}/`));
      expect(own, line).toEqual([expect.stringMatching(OWN_FOLDER)]);
    }
    // Nothing else beside the resource is renamed.
    const beside = calls.filter((call) => call.line.includes(`${open}/`) && !moved.includes(call));
    expect(beside).toEqual([]);
    const directory = sandbox.ref.metadata["directory"] as string;
    expect(shell(directory, "stat -c '%a %u' .")).toBe("700 0\n");
    expectOracleEqual(before, takeOracle(real));
    expect(list()).toBe(there);
  },
  2 * MINUTES,
);
