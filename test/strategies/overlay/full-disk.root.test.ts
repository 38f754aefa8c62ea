import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { displayPath } from "../../../src/model/byte-path.ts";
import { mountFileSystem } from "../../support/loop.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { runIn } from "./modes.ts";
import { at, makeSandbox } from "./sandbox.ts";
import { walkView } from "./walk.ts";

it("keeps the present state when a write, a checkpoint or a restore finds no room, and goes on later (R205)", async () => {
  await using disk = mountFileSystem("ext4", { megabytes: 64 });
  const root = join(disk.mountPoint, "real");
  mkdirSync(root);
  runIn(root, "mkdir d; echo a >a; echo b >d/b");
  const original = takeOracle(root);
  {
    await using sandbox = await makeSandbox(root);
    const { workspace, place } = sandbox;
    await workspace.write(place, at("d/b"), Buffer.from("kept\n"));
    await workspace.checkpoint(place, "kept");
    await workspace.write(place, at("d/b"), Buffer.from("later\n"));
    const before = await walkView(sandbox);
    const ballast = join(disk.mountPoint, "ballast");
    // First the blocks, then, with small files, the inodes.
    runIn("/", `head -c 100M /dev/zero >"${ballast}" 2>/dev/null || true`);
    mkdirSync(join(disk.mountPoint, "small"));
    runIn(join(disk.mountPoint, "small"), "seq 20000 | xargs touch 2>/dev/null || true");
    const calls = [
      () => workspace.write(place, at("a"), Buffer.alloc(200_000)),
      () => workspace.checkpoint(place, "second"),
      () => workspace.restore(place, "kept"),
      () => workspace.discard(place),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "ENOSPC" });
    expectOracleEqual(before, await walkView(sandbox));
    rmSync(ballast);
    runIn(disk.mountPoint, "rm -r small");
    await workspace.restore(place, "kept");
    expect((await workspace.read(place, at("d/b"))).toString()).toBe("kept\n");
    const shown = displayPath(await workspace.path(place));
    expect(runIn(shown, "cat a d/b")).toBe("a\nkept\n");
  }
  expectOracleEqual(original, takeOracle(root));
});
