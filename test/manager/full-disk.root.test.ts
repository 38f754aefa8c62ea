import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { SandboxError } from "../../src/index.ts";
import { mountFileSystem } from "../support/loop.ts";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { edit, plantData, reopenSite, run, sandboxOf } from "./site.ts";

/** Leaves this much room on a disk. */
function fill(mountPoint: string, kilobytes: number): string {
  const filler = join(mountPoint, "filler");
  const free = Number(run("stat", "-f", "-c", "%a", mountPoint)) * 4 - kilobytes;
  run("dd", "if=/dev/zero", `of=${filler}`, "bs=1024", `count=${free}`, "status=none");
  return filler;
}

describe.each(["filesystem_copy", "overlay", "two-phase"])("on a full disk, %s", (strategy) => {
  it("touches nothing when a commit has no room, and commits when it has (R27)", async () => {
    await using disk = mountFileSystem("tmpfs", { megabytes: 16 });
    const data = join(disk.mountPoint, "data");
    plantData(data);
    const site = await reopenSite({ stateDirectory: join(disk.mountPoint, "state"), data });
    await using _coffer = site.coffer;
    const sandbox = await sandboxOf(site, strategy);
    await edit(sandbox);
    const before = takeOracle(data);
    const { digest } = await sandbox.diff();
    const outcomes = new Set<string>();
    for (let kilobytes = 0; kilobytes <= 96; kilobytes += 8) {
      const filler = fill(disk.mountPoint, kilobytes);
      const outcome = await sandbox.commit().then(
        () => "committed",
        (error: unknown) => (error instanceof SandboxError ? error.code : String(error)),
      );
      outcomes.add(outcome);
      if (outcome !== "committed") expectOracleEqual(before, takeOracle(data));
      rmSync(filler);
      await site.coffer.recover();
      expect(readdirSync(join(site.stateDirectory, "tx"))).toEqual([]);
      if ((await site.coffer.status(sandbox.ref)) === "COMMITTED") await sandbox.undoCommit();
      expectOracleEqual(before, takeOracle(data));
      expect((await sandbox.diff()).digest).toBe(digest);
    }
    const truthful = ["INSUFFICIENT_SPACE", "SANDBOX_COMMIT", "committed"];
    expect(truthful).toEqual(expect.arrayContaining([...outcomes]));
    expect([...outcomes]).toEqual(expect.arrayContaining(["SANDBOX_COMMIT", "committed"]));
    expect(await sandbox.commit({ expect: digest })).toMatchObject({ deleted: ["b"] });
  });
});
