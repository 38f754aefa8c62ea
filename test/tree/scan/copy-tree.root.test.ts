import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { toBytePath } from "../../../src/model/byte-path.ts";
import { copyTree } from "../../../src/tree/copy-tree.ts";
import { runTask } from "../../../src/tree/threads/pool.ts";
import { mountFileSystem } from "../../support/loop.ts";
import { expectOracleEqual, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";
import { AWKWARD_TREE, shell } from "../sample-tree.ts";

function folders(base: string): { source: string; target: string } {
  const [source, target] = [join(base, "source"), join(base, "target")];
  mkdirSync(source);
  mkdirSync(target);
  return { source, target };
}

test("copies links, modes, owners, nanosecond times, holes and attributes exactly (R165, R166, R168)", async () => {
  const { source, target } = folders(tempFolder());
  shell(
    source,
    `${AWKWARD_TREE} chown 1234:2345 plain/b.txt; setfacl -m u:99:rw plain/b.txt; touch -d 1999-01-01 .`,
  );
  const copied = await copyTree({
    source: toBytePath(source),
    target: toBytePath(target),
    reflink: "never",
  });
  expect(copied.skipped).toEqual([{ path: "fifo", reason: "fifo" }]);
  expectOracleEqual(
    takeOracle(source).filter((record) => record.path !== "fifo"),
    takeOracle(target),
  );
  expect(statSync(join(target, "sparse")).blocks).toBeLessThan(200);
});

test("leaves setuid, setgid and sticky bits out of copies and finds no change for it (R231)", async () => {
  const { source, target } = folders(tempFolder());
  shell(
    source,
    "printf x > tool; chmod 4755 tool; mkdir shared; chmod 2775 shared; mkdir all; chmod 1777 all",
  );
  const copied = await copyTree({
    source: toBytePath(source),
    target: toBytePath(target),
    reflink: "auto",
  });
  expect(shell(target, "find . -perm /7000")).toBe("");
  const set = await runTask("compareTree", {
    workspace: toBytePath(target),
    root: toBytePath(source),
    manifest: copied.manifest.toBytes(),
    only: null,
    exclude: [],
  });
  expect(set.changes).toEqual([]);
});

test("shares blocks on btrfs when it may and never when it must not (R61, R67, R195)", async () => {
  await using disk = mountFileSystem("btrfs");
  const { source, target } = folders(disk.mountPoint);
  writeFileSync(join(source, "big"), Buffer.alloc(4 << 20, 7));
  execFileSync("sync", ["-f", source]);
  const shared = await copyTree({
    source: toBytePath(source),
    target: toBytePath(target),
    reflink: "auto",
  });
  expect(shared.reflinked).toBe(1);
  execFileSync("sync", ["-f", source]);
  expect(execFileSync("filefrag", ["-v", join(target, "big")], { encoding: "utf8" })).toContain(
    "shared",
  );
  const bytes = join(disk.mountPoint, "bytes");
  mkdirSync(bytes);
  const own = await copyTree({
    source: toBytePath(source),
    target: toBytePath(bytes),
    reflink: "never",
  });
  expect(own.copied).toBe(1);
  execFileSync("sync", ["-f", source]);
  expect(execFileSync("filefrag", ["-v", join(bytes, "big")], { encoding: "utf8" })).not.toContain(
    "shared",
  );
  expect(readFileSync(join(bytes, "big")).equals(readFileSync(join(source, "big")))).toBe(true);
});

test("does not enter another mount and says so", async () => {
  const { source, target } = folders(tempFolder());
  await using disk = mountFileSystem("tmpfs");
  mkdirSync(join(source, "inner"));
  writeFileSync(join(disk.mountPoint, "file"), "secret");
  execFileSync("mount", ["--bind", disk.mountPoint, join(source, "inner")]);
  try {
    const copied = await copyTree({
      source: toBytePath(source),
      target: toBytePath(target),
      reflink: "auto",
    });
    expect(copied.skipped).toEqual([{ path: "inner", reason: "otherMount" }]);
    expect(shell(target, "grep -r secret . || true")).toBe("");
  } finally {
    execFileSync("umount", [join(source, "inner")]);
  }
});
