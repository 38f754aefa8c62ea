import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openCofferdam } from "../../../src/index.ts";
import { tempFolder } from "../../support/temp.ts";

describe("a folder that gives its group to what is made in it", () => {
  it.each(["copy_on_write", "filesystem_copy"])("does so for edits in %s", async (strategy) => {
    const folder = tempFolder();
    const team = join(folder, "resource/team");
    mkdirSync(team, { recursive: true });
    writeFileSync(join(team, "old"), "old\n");
    const gid = process.getuid?.() === 0 ? 4321 : (process.getgid?.() ?? 0);
    for (const path of [team, join(team, "old")]) chownSync(path, process.getuid?.() ?? 0, gid);
    chmodSync(team, 0o2775);

    await using cofferdam = await openCofferdam({
      stateDirectory: join(folder, "state"),
      config: false,
    });
    const ref = await cofferdam.create("plan", join(folder, "resource"), { strategy });
    const sandbox = cofferdam.sandbox(ref);
    const script =
      "umask 022; mkdir sub; echo x > sub/new; echo x > .new; mv .new old; ln -s x link";
    spawnSync("sh", ["-c", script], { cwd: await sandbox.getPath("team") });
    await sandbox.commit();

    const made = ["sub", "sub/new", "old"].map((name) => {
      const { gid: group, mode } = statSync(join(team, name));
      return { name, group, mode: (mode & 0o7777).toString(8) };
    });
    expect(made).toEqual([
      { name: "sub", group: gid, mode: "2755" },
      { name: "sub/new", group: gid, mode: "644" },
      { name: "old", group: gid, mode: "644" },
    ]);
    await sandbox.cleanup();
  });
});
