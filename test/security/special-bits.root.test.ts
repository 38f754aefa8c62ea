import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { expectOracleEqual, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";
import { shell } from "../strategies/shell.ts";
import { KERNEL, PLAIN, openBench } from "../strategies/subjects.ts";

const SUBJECTS = [
  ...PLAIN,
  KERNEL,
  { name: "overlay (user namespace)", strategy: "overlay", properties: { mode: "userns" } },
  { name: "overlay (fuse)", strategy: "overlay", properties: { mode: "fuse" } },
];

it.each(SUBJECTS)(
  "$name: an edited program keeps its setuid and setgid bits, which it has in no sandbox (R231)",
  async (subject) => {
    const folder = tempFolder();
    const real = join(folder, "real");
    mkdirSync(real);
    shell(
      real,
      `for name in written edited replaced saved untouched; do echo old > $name; chmod 6755 $name; done
       mkdir shared; chmod 1775 shared`,
    );
    const before = takeOracle(real);
    await using bench = await openBench(subject, real, join(folder, "state"));
    const { sandbox } = bench;
    await sandbox.write("written", "new\n");
    const work = await sandbox.getPath();
    shell(
      work,
      "echo new >> edited; echo new > n; mv n replaced; cp -p saved s; echo new >> s; mv s saved; echo new > shared/file",
    );
    await sandbox.checkpoint("kept");
    // What the kernel and fuse-overlayfs copy for themselves has the bits, in a folder that others cannot enter.
    const own = shell(
      bench.directory,
      "stat -c %a .; find . -xdev -path ./l -prune -o -type f -perm /6000 -print",
    );
    expect(own).toBe("700\n");
    await sandbox.commit();
    expect(shell(real, "stat -c '%a %n' *")).toBe(
      "6755 edited\n644 replaced\n6755 saved\n1775 shared\n6755 untouched\n6755 written\n",
    );
    await sandbox.rollback();
    expectOracleEqual(before, takeOracle(real));
  },
);
