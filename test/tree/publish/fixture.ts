import { execFileSync } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serialize } from "node:v8";
import type { BytePath, RelativePath } from "../../../src/model/byte-path.ts";
import { readEntry } from "../../../src/tree/read-entry.ts";
import type { StageRequest } from "../../../src/tree/publish/index.ts";
import type { TreeChange } from "../../../src/tree/tree-change.ts";
import type { TreeEntry } from "../../../src/tree/tree-entry.ts";
import { type Oracle, type OracleRecord, takeOracle } from "../../support/oracle.ts";
import { tempFolder } from "../../support/temp.ts";

/** A real tree, a workspace that began as its copy, and the place for stages. Texts hold one character a byte. */
export interface Fixture {
  readonly root: string;
  readonly work: string;
  readonly stage: string;
  readonly area: string;
}

/** Runs a program with latin1 text, which keeps every byte of a name. */
export function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: "latin1", stdio: ["ignore", "pipe", "pipe"] });
}

/** Runs shell text in a folder. */
export function shell(folder: string, script: string): string {
  return execFileSync("bash", ["-euc", script], {
    cwd: folder,
    encoding: "latin1",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Builds the real tree with `base`, copies it, and works in the copy with `edit`; both are shell text. */
export function makeFixture(base: string, edit: string, folder = tempFolder()): Fixture {
  const area = join(folder, "area");
  const fixture = {
    root: join(folder, "root"),
    work: join(area, "work"),
    stage: join(area, "stage"),
    area,
  };
  mkdirSync(fixture.root);
  mkdirSync(area);
  shell(fixture.root, base);
  run("cp", "-a", fixture.root, fixture.work);
  shell(fixture.work, edit);
  return fixture;
}

/** A request to publish everything that differs between the workspace and the real tree. */
export function requestFor(
  fixture: Fixture,
  take: TreeChange["take"] = "clone",
  extra: Partial<StageRequest> = {},
): StageRequest {
  return {
    root: fixture.root as BytePath,
    stage: fixture.stage as BytePath,
    only: null,
    sourceRoots: [fixture.area as BytePath],
    changes: changesBetween(fixture, take),
    ...extra,
  };
}

/** What differs, found by programs other than ours; details of the entries come from the reader under test. */
export function changesBetween({ root, work }: Fixture, take: TreeChange["take"]): TreeChange[] {
  const [before, after] = [byPath(takeOracle(root)), byPath(takeOracle(work))];
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths.flatMap((path): TreeChange[] => {
    const [was, is] = [before.get(path), after.get(path)];
    if (JSON.stringify(was) === JSON.stringify(is)) return [];
    if (isSpecial(was) || isSpecial(is)) return [];
    const isFolder = was?.type === "d" && is?.type === "d";
    const timesOnly =
      isFolder && JSON.stringify({ ...was, mtime: is.mtime }) === JSON.stringify(is);
    return [
      {
        path: path as RelativePath,
        before: was === undefined ? null : entryAt(root, path),
        after: is === undefined ? null : entryAt(work, path),
        source: is === undefined ? null : (join(work, path) as BytePath),
        take,
        contentDiffers: null,
        ...(timesOnly && { implied: true }),
      },
    ];
  });
}

/** One entry as the engine reads it. */
export function entryAt(root: string, path: string): TreeEntry {
  const full = path === "" ? root : `${root}/${path}`;
  const cut = full.lastIndexOf("/");
  const fd = openSync(Buffer.from(full.slice(0, cut), "latin1"), "r");
  try {
    return readEntry(fd, full.slice(cut + 1));
  } finally {
    closeSync(fd);
  }
}

/** Writes a request into a file for `programs/run-steps.ts` and gives the file's path. */
export function writeRequest({ area }: Fixture, request: StageRequest): string {
  const file = join(area, "..", "request");
  writeFileSync(file, serialize(request));
  return file;
}

/** A tree with something of every kind, and edits of every kind, both as small as they can be. */
export const EVERY_KIND = {
  base: [
    "echo old > modified; chmod 640 modified; echo gone > deleted; ln -s modified link",
    "mkdir folder; echo inner > folder/inner; mkdir -p removed/deep; echo r > removed/deep/file",
    "echo f > fileToFolder; mkdir folderToLink; echo x > folderToLink/x; echo keep > keep",
    "echo one > linked1; ln linked1 linked2; setfattr -n user.note -v old modified",
    "touch -h -d '2001-01-01 01:01:01.123456789' * */* .; chmod 750 folder",
  ].join("\n"),
  edit: [
    "echo newer > modified; rm deleted; ln -sfn elsewhere link; echo more >> folder/inner",
    "chmod 711 folder; rm -r removed; rm fileToFolder; mkdir fileToFolder; echo y > fileToFolder/y",
    "rm -r folderToLink; ln -s folder folderToLink; mkdir -p added/empty; echo a > added/a",
    "ln -s a added/link; chmod 500 added/empty; ln added/a added/b; echo two > linked1; echo n > new",
    "setfattr -n user.note -v new modified; touch -d '2011-11-11 11:11:11.987654321' added folder .",
  ].join("\n"),
} as const;

/** Whether anything is left of a stage. */
export function isStageGone({ stage }: Fixture): boolean {
  return !existsSync(stage);
}

function byPath(oracle: Oracle): Map<string, OracleRecord> {
  return new Map(oracle.map((record) => [record.path, record]));
}

function isSpecial(record: OracleRecord | undefined): boolean {
  return record !== undefined && !/[fdl]/.test(record.type);
}
