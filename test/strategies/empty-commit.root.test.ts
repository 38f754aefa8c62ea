import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { tempFolder } from "../support/temp.ts";
import { makeSample } from "./sample.ts";
import { identities, run } from "./shell.ts";
import { KERNEL, PLAIN, openBench } from "./subjects.ts";

/** A process that stands in a folder, so that no mount around it can be taken away. */
async function standIn(folder: string): Promise<AsyncDisposable> {
  const child = spawn("sleep", ["60"], { cwd: folder, stdio: "ignore" });
  await once(child, "spawn");
  return {
    async [Symbol.asyncDispose]() {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

const mountOf = (path: string): string =>
  run("findmnt", ["-n", "-o", "ID,TARGET", "-T", path]).trim();

describe.each([...PLAIN, KERNEL])("$name", (subject) => {
  test("an empty commit and its undo leave resource, workspace and mount alone (R31)", async () => {
    const folder = tempFolder();
    const real = join(folder, "real");
    makeSample(real);
    await using bench = await openBench(subject, real, join(folder, "state"));
    const { sandbox } = bench;
    const workspace = await sandbox.getPath();
    const before = { real: identities(real), workspace: identities(workspace) };
    const mount = mountOf(workspace);
    {
      await using _stands = await standIn(workspace);
      const result = await sandbox.commit();
      expect(result).toMatchObject({ noop: true, added: [], changed: [], deleted: [] });
      expect((await sandbox.describe()).status).toBe("COMMITTED");
      await sandbox.rollback();
      expect((await sandbox.describe()).status).toBe("ROLLED_BACK");
      expect(mountOf(workspace)).toBe(mount);
    }
    expect(await sandbox.getPath()).toBe(workspace);
    expect({ real: identities(real), workspace: identities(workspace) }).toEqual(before);
    await sandbox.write("a", "edited");
    expect((await sandbox.commit()).changed).toContain("a");
  });
});
