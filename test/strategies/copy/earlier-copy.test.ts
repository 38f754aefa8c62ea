import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openCofferdam } from "../../../src/index.ts";
import { tempFolder } from "../../support/temp.ts";

it.each(["copy_on_write", "filesystem_copy"])(
  "%s: a checkpoint is whole although the one before it lost a file (R262)",
  async (strategy) => {
    const folder = tempFolder();
    const real = join(folder, "real");
    mkdirSync(real);
    writeFileSync(join(real, "a"), "as it was\n");
    await using coffer = await openCofferdam({
      stateDirectory: join(folder, "state"),
      config: false,
    });
    const sandbox = coffer.sandbox(await coffer.create("plan", real, { strategy }));
    await sandbox.checkpoint("one");
    const kept = execFileSync("find", [folder, "-path", "*/c-*/tree/a"], { encoding: "utf8" });
    rmSync(kept.trim());
    await sandbox.checkpoint("two");
    await sandbox.write("a", "edited\n");
    await sandbox.restoreCheckpoint("two");
    expect((await sandbox.read("a")).toString()).toBe("as it was\n");
    await sandbox.cleanup({ force: true });
  },
);
