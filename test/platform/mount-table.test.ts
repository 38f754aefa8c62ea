import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseMountTable } from "../../src/platform/mount-table.ts";
import { tempFolder } from "../support/temp.ts";

test("agrees with findmnt about every mount of this machine", () => {
  // Both read one copy, because others may mount something at any moment.
  const copy = join(tempFolder(), "mountinfo");
  writeFileSync(copy, readFileSync("/proc/self/mountinfo"));
  const columns = "ID,PARENT,MAJ:MIN,FSROOT,TARGET,FSTYPE,VFS-OPTIONS,FS-OPTIONS";
  const args = ["--kernel", "--tab-file", copy, "--list", "--json", "--output", columns];
  const output = execFileSync("findmnt", args, { encoding: "utf8" });
  const { filesystems } = JSON.parse(output) as { filesystems: Record<string, unknown>[] };
  const theirs = filesystems.map((entry) => Object.values(entry).map(String).join(" "));
  const ours = parseMountTable(readFileSync(copy, "latin1")).map((entry) =>
    [
      entry.mountId,
      entry.parentId,
      `${entry.devMajor}:${entry.devMinor}`,
      entry.root,
      entry.mountPoint,
      entry.fsType,
      entry.options.join(","),
      entry.superOptions.join(","),
    ].join(" "),
  );
  expect(ours.length).toBeGreaterThan(0);
  expect(ours).toEqual(theirs);
});

test("keeps a comma of a layer inside its option", () => {
  const line = String.raw`45 27 0:39 / /m\040p rw,relatime shared:5 master:1 - overlay overlay rw,lowerdir+=/a\054b,upperdir=/c\134d`;
  expect(parseMountTable(`${line}\n`)).toEqual([
    expect.objectContaining({
      mountPoint: "/m p",
      options: ["rw", "relatime"],
      superOptions: ["rw", "lowerdir+=/a,b", "upperdir=/c\\d"],
    }),
  ]);
});
