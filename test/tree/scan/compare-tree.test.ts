import { readFileSync, statSync } from "node:fs";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { type BytePath, toBytePath } from "../../../src/model/byte-path.ts";
import type { Change } from "../../../src/model/change.ts";
import { copyTree } from "../../../src/tree/copy-tree.ts";
import type { ChangeSet } from "../../../src/tree/tree-change.ts";
import { runTask } from "../../../src/tree/threads/pool.ts";
import { tempFolder } from "../../support/temp.ts";
import { AWKWARD_TREE, shell } from "../sample-tree.ts";

let source: string;
let target: string;
let manifest: Buffer;

beforeEach(() => {
  const base = tempFolder();
  [source, target] = [join(base, "source"), join(base, "target")];
  mkdirSync(source);
  mkdirSync(target);
});

async function copy(script: string): Promise<void> {
  shell(source, script);
  const copied = await copyTree({
    source: toBytePath(source),
    target: toBytePath(target),
    reflink: "auto",
  });
  manifest = copied.manifest.toBytes();
}

function compare(): Promise<ChangeSet> {
  return runTask("compareTree", {
    workspace: toBytePath(target),
    root: toBytePath(source),
    manifest,
    only: null,
    exclude: [],
  });
}

async function kinds(): Promise<Record<string, string>> {
  const { changes } = await compare();
  const described = await runTask("describeChanges", { root: toBytePath(source), changes });
  return Object.fromEntries(described.map((change: Change) => [change.path, change.kind]));
}

test("finds nothing in an untouched copy of an awkward tree (R8, R168)", async () => {
  await copy(AWKWARD_TREE);
  expect((await compare()).changes).toEqual([]);
});

test("tells a changed link text and a link replaced by a file apart (R186)", async () => {
  await copy(
    "printf same > one; printf same > two; ln -s one link; ln -s one swap; mkdir d e; ln -s d to-d",
  );
  shell(target, "ln -sfn two link; rm swap; printf same > swap; ln -sfn e to-d");
  expect(await kinds()).toEqual({
    link: "linkChanged",
    swap: "typeChanged",
    "to-d": "linkChanged",
  });
});

test("compares broken and looping links by their text (R187)", async () => {
  await copy("ln -s nowhere broken; ln -s b a; ln -s a b; ln -s gone kept");
  shell(target, "ln -sfn elsewhere broken; ln -sfn c a");
  expect(await kinds()).toEqual({ broken: "linkChanged", a: "linkChanged" });
});

test("lists added, removed and emptied directories each as what they are (R188)", async () => {
  await copy("mkdir gone kept; printf x > kept/file");
  shell(target, "rmdir gone; mkdir fresh; rm kept/file");
  expect(await kinds()).toEqual({ fresh: "added", gone: "deleted", "kept/file": "deleted" });
});

test("sees a changed mode with equal content (R189)", async () => {
  await copy("printf x > tool; chmod 644 tool");
  shell(target, "chmod +x tool");
  const { changes } = await compare();
  const described = await runTask("describeChanges", { root: toBytePath(source), changes });
  expect(described).toHaveLength(1);
  expect(described[0]).toMatchObject({ path: "tool", kind: "modeChanged" });
  expect(described[0]?.before?.mode).toBe(0o644);
  expect(described[0]?.after?.mode).toBe(0o755);
});

test("sees an edit that kept the size and took the time back (R190)", async () => {
  await copy("printf 'aaaa' > file; touch -d 2001-01-01 file");
  shell(
    target,
    "cp -p file ../reference; printf 'aaab' > file; touch -r ../reference file; rm ../reference",
  );
  expect(await kinds()).toEqual({ file: "modified" });
});

test("sees an edit made right after the copy was finished (R190)", async () => {
  for (let round = 0; round < 20; round++) shell(source, `printf 'v${round}-a' > f${round}`);
  await copy("true");
  const script = Array.from({ length: 20 }, (_, n) => `printf 'v${n}-b' > f${n}`).join(";");
  shell(target, script);
  expect(Object.values(await kinds())).toEqual(Array.from({ length: 20 }, () => "modified"));
});

test("judges empty, equal and barely different files by their bytes (R191)", async () => {
  await copy("truncate -s 256M big; : > empty; printf text > equal; printf 'caf\\351' > encoded");
  shell(
    target,
    "printf Z | dd of=big bs=1 seek=268435455 conv=notrunc status=none; printf '' > empty; " +
      "printf text > equal.new; touch -r equal equal.new; mv equal.new equal; printf 'caf\\303\\251' > encoded",
  );
  const found = await kinds();
  expect(found["big"]).toBe("modified");
  expect(found["encoded"]).toBe("modified");
  expect(found["equal"]).toBeUndefined();
  expect(found["empty"] ?? "attributesChanged").toBe("attributesChanged");
});

test("never opens special files and never enters a folder behind a link (R192)", async () => {
  await copy("ln -s / everything; printf x > file");
  shell(target, "mkfifo pipe; rm file; mkfifo file");
  const { changes, skipped } = await compare();
  expect(skipped.map(({ path, reason }) => [path, reason])).toEqual(
    expect.arrayContaining([
      ["pipe", "fifo"],
      ["file", "fifo"],
    ]),
  );
  expect(changes.filter((change) => change.implied !== true).map(({ path }) => path)).toEqual([
    "file",
  ]);
});

test("reads only the files whose identity changed (R190, R244)", async () => {
  await copy("for i in $(seq 1 400); do head -c 20000 /dev/zero > f$i; done");
  shell(target, "for i in 3 9 27 81 243; do printf changed > f$i; done");
  await compare();
  const before = bytesRead();
  const { changes } = await compare();
  await runTask("describeChanges", { root: toBytePath(source), changes });
  const read = bytesRead() - before;
  expect(changes.filter((change) => change.implied !== true)).toHaveLength(5);
  // Five files of twenty thousand bytes and their small successors, against eight million bytes in all.
  expect(read).toBeLessThan(8 * 20_000);
});

function bytesRead(): number {
  return Number(/rchar: (\d+)/.exec(readFileSync("/proc/self/io", "latin1"))?.[1]);
}

test("recognises a renamed file and a moved, edited one", async () => {
  await copy("mkdir d; printf 'some content' > d/old; printf 'other content' > plain");
  shell(target, "mv d/old d/new; mv plain moved; printf '+' >> moved");
  const { changes } = await compare();
  const described = await runTask("describeChanges", { root: toBytePath(source), changes });
  const byPath = new Map(described.map((change) => [change.path, change]));
  expect(byPath.get("d/new")?.renamedFrom).toBe("d/old");
  expect(byPath.get("d/old")?.renamedTo).toBe("d/new");
  expect(byPath.get("moved")?.renamedFrom).toBe("plain");
});

test("does not take a new file for a renamed one because it got the number of a removed one", async () => {
  await copy('mkdir old; for i in $(seq 1 60); do printf "old $i" > old/$i; done');
  shell(
    target,
    'rm -r old; mkdir new; for i in $(seq 1 60); do printf "not at all $i" > new/$i; done',
  );
  const { changes } = await compare();
  const removed = new Set(changes.filter(({ after }) => after === null).map(({ path }) => path));
  expect(removed.size).toBe(61);
  expect(changes.filter(({ movedFrom }) => movedFrom !== undefined)).toEqual([]);
});

test("keeps track of hard links that were made, kept and split (R172)", async () => {
  await copy("printf x > a; ln a b; printf y > c; printf z > d; ln d e");
  shell(target, "ln c f; printf more >> a; cp -p d d.new; mv d.new d");
  const { changes } = await compare();
  const byPath = new Map(changes.map((change) => [change.path as string, change]));
  expect(byPath.get("f")?.linkTo).toBe("c");
  expect(byPath.get("a")?.after?.ino).toBe(byPath.get("b")?.after?.ino);
  expect(byPath.get("d")?.notes).toEqual(["hard link split"]);
  expect(byPath.has("c")).toBe(false);
});

test("keeps names byte for byte (R173)", async () => {
  const long = "n".repeat(255);
  await copy(`printf x > $'a\\nb'; printf x > $'\\377\\376'; printf x > ./-rf; printf x > ${long}`);
  shell(target, `for f in ./*; do printf y > "$f"; done`);
  const { changes } = await compare();
  const found = changes.filter((change) => change.implied !== true).map(({ path }) => path);
  expect(found).toEqual(["-rf", "a\nb", long, "\xff\xfe"] as BytePath[]);
  const described = await runTask("describeChanges", { root: toBytePath(source), changes });
  expect(described.at(-1)?.pathBytes).toBe("fffe");
  expect(statSync(join(target, long)).size).toBe(1);
});
