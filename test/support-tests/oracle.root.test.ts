import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { expectOracleEqual, oracleDifferences, takeOracle } from "../support/oracle.ts";
import { tempFolder } from "../support/temp.ts";

/** A small tree with one of everything the oracle speaks about, made by a shell. */
function makeTree(): string {
  const root = tempFolder();
  shell(
    root,
    `mkdir -m 0750 folder empty
     printf one > folder/file; ln folder/file folder/second; ln -s ../nowhere folder/link
     printf two > $'new\\nline'; printf three > $'not\\xffutf8 \\\\'; mkfifo pipe; mknod device c 1 3
     setfattr -n user.note -v hello folder/file; setfattr -h -n trusted.link -v x folder/link
     chmod 4711 $'new\\nline'; chown 12:34 empty
     touch -h -d '2001-02-03 04:05:06.123456789' folder/* pipe device empty folder .`,
  );
  return root;
}

function shell(cwd: string, script: string): void {
  execFileSync("bash", ["-e", "-c", script], { cwd });
}

describe("takeOracle", () => {
  it("lists type, bytes, link text, mode, owner, time, xattrs and hard links", () => {
    const records = new Map(takeOracle(makeTree()).map((record) => [record.path, record]));
    expect([...records.keys()]).toEqual([
      "",
      "device",
      "empty",
      "folder",
      "folder/file",
      "folder/link",
      "folder/second",
      "new\nline",
      "not\xffutf8 \\",
      "pipe",
    ]);
    expect(records.get("folder/file")).toEqual({
      path: "folder/file",
      type: "f",
      mode: "644",
      owner: "0:0",
      mtime: "981173106.123456789",
      size: "3",
      sha256: "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
      xattrs: { "user.note": "0x68656c6c6f" },
      links: ["folder/file", "folder/second"],
    });
    expect(records.get("folder/link")).toMatchObject({
      type: "l",
      target: "../nowhere",
      xattrs: { "trusted.link": "0x78" },
    });
    expect(records.get("device")).toMatchObject({ type: "c", device: "1:3" });
    expect(records.get("empty")).toMatchObject({ type: "d", mode: "750", owner: "12:34" });
    expect(records.get("new\nline")).toMatchObject({ mode: "4711", size: "3" });
    expect(records.get("not\xffutf8 \\")?.sha256).toMatch(
      /^8b5b9db0c13db24256c829aa364aa90c6d2eba/,
    );
  });

  it("neither lists nor reads an excluded path", () => {
    const root = makeTree();
    shell(root, "mkdir 'odd[*]' odd1; touch 'odd[*]/x' odd1/x");
    const paths = takeOracle(root, { exclude: ["folder", "odd[*]"] }).map(({ path }) => path);
    expect(paths).not.toContain("folder");
    expect(paths).not.toContain("folder/file");
    expect(paths).not.toContain("odd[*]/x");
    expect(paths).toContain("odd1/x");
  });
});

describe("oracleDifferences", () => {
  const changes = [
    ["printf six > folder/file", "mtimes", '"folder/file": sha256'],
    ["chmod 751 folder", "owner", '"folder": mode 750 -> 751'],
    ["chown 0:34 empty", "mtimes", '"empty": owner 12:34 -> 0:34'],
    ["ln -sfn elsewhere folder/link", "directoryMtimes", '"folder/link": target'],
    ["touch -d 2001-02-03 pipe", "owner", '"pipe": mtime'],
    ["touch -d 2002-02-03 .", "owner", '".": mtime'],
    ["setfattr -x user.note folder/file", "mtimes", '"folder/file": xattr user.note'],
    ["cp -a folder/file t; mv t folder/file", "mtimes", '"folder/second": links'],
    ["mv pipe tube", "rootMtime", '"pipe": disappeared'],
    ["mkdir folder/new", "directoryMtimes", '"folder/new": appeared'],
  ] as const;

  it.for(changes)("sees what “%s” does", ([script, ignored, expected]) => {
    const root = makeTree();
    const before = takeOracle(root);
    expectOracleEqual(before, takeOracle(root));
    shell(root, script);
    const lines = oracleDifferences(before, takeOracle(root), { ignore: [ignored] });
    expect(lines.some((line) => line.startsWith(expected))).toBe(true);
  });

  const ignorable = [
    ["chown 7:7 empty", "owner"],
    ["touch pipe folder", "mtimes"],
    ["touch folder", "directoryMtimes"],
    ["touch .", "rootMtime"],
    ["setfattr -n user.more -v x folder/file", "xattrs"],
    [
      "touch -r . s; cp -p folder/second t; mv t folder/second; touch -r s . folder; rm s; touch -r folder .",
      "hardLinks",
    ],
    ["rm pipe device; touch -d '2001-02-03 04:05:06.123456789' .", "specialFiles"],
  ] as const;

  it.for(ignorable)(
    "after “%s” agrees when told to ignore %s, and only then",
    ([script, aspect]) => {
      const root = makeTree();
      const before = takeOracle(root);
      shell(root, script);
      const after = takeOracle(root);
      const further = aspect === "hardLinks" ? (["xattrs"] as const) : [];
      expect(oracleDifferences(before, after, { ignore: [aspect, ...further] })).toEqual([]);
      expect(oracleDifferences(before, after, { ignore: further })).not.toEqual([]);
    },
  );
});
