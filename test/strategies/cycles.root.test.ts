import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runChild } from "../support/child.ts";
import { mountFileSystem } from "../support/loop.ts";
import { diskUsage, names } from "./shell.ts";
import { COPIES, KERNEL } from "./subjects.ts";

const program = new URL("./programs/cycles.ts", import.meta.url);

describe.each([
  // A write that truly stops in the middle of a file, and a folder in which nobody may rename.
  { ...COPIES[0]!, mode: "", failure: "limit", count: 200 },
  { ...KERNEL, mode: "kernel", failure: "denied", count: 100 },
])("$name", ({ strategy, mode, failure, count }) => {
  test("nothing stays of sandboxes that succeeded, failed or could not be undone (R41, R181, R249)", async () => {
    await using disk = mountFileSystem("tmpfs");
    const [folder, state] = [join(disk.mountPoint, "folder"), join(disk.mountPoint, "state")];
    const real = join(folder, "real");
    mkdirSync(real, { recursive: true });
    writeFileSync(join(real, "file"), "old\n");
    writeFileSync(join(real, "other"), "old\n");
    const cycles = async (wanted: number): Promise<unknown> => {
      const args = [state, real, strategy, mode, String(wanted), failure];
      const wrapper = ["prlimit", "--fsize=1000000:unlimited"];
      const { code, stdout, stderr } = await runChild(program, args, { wrapper });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      return JSON.parse(stdout);
    };
    const area = join(state, "area");
    // What a finished transaction was is remembered in `done`; everything else has to go.
    const listing = (): string[] =>
      names(disk.mountPoint).filter((name) => !name.startsWith("state/done/"));
    await cycles(4);
    const [before, size] = [listing(), diskUsage(area)];
    expect(await cycles(count)).toEqual({
      committed: (count / 4) * 3,
      undone: count / 4,
      commitFailed: count / 4,
      undoFailed: count / 4,
      codes: ["SANDBOX_COMMIT", "SANDBOX_ROLLBACK"],
    });
    expect(listing()).toEqual(before);
    expect(names(folder)).toEqual(["real", "real/file", "real/other"]);
    expect(names(area)).toEqual(["sandboxes"]);
    expect(diskUsage(area)).toBe(size);
  });
});
