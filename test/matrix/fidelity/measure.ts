import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "../../support/child.ts";
import { nobody } from "../../support/nobody.ts";
import {
  type Oracle,
  type OracleRecord,
  oracleDifferences,
  takeOracle,
} from "../../support/oracle.ts";
import { asOrdinaryUser } from "../../support/as-ordinary-user.ts";
import type { Committed, Work } from "../programs/work.ts";
import { ASPECTS, type Aspect, folderOf, scriptOf } from "./aspects.ts";
import type { Column } from "./columns.ts";

/** What was different in one row. */
export interface Finding {
  /** After the commit, against a plain copy that the same programs worked in. */
  readonly commit: readonly string[];
  /** After the undo, against the resource as it was. */
  readonly undo: readonly string[];
}

/** Row to what was different there. */
export type Findings = ReadonlyMap<string, Finding>;

const PROGRAM = new URL("../programs/work.ts", import.meta.url);
const FOLDER_TIMES = "time of a folder";

/** The aspects that the user of a column can bring about at all. */
export function aspectsOf({ user }: Column): readonly Aspect[] {
  return ASPECTS.filter(({ byRoot }) => user === "root" || byRoot !== true);
}

/** Takes the awkward tree through edit, commit and undo, and compares it with what plain tools make of it. */
export async function measure(column: Column, folder: string): Promise<Findings> {
  const all = aspectsOf(column);
  const together = all.filter(({ alone }) => alone !== true);
  const groups = [together, ...all.filter(({ alone }) => alone === true).map((one) => [one])];
  const findings = new Map<string, Finding>();
  for (const [at, aspects] of groups.entries()) {
    const site = join(folder, String(at));
    mkdirSync(site);
    for (const [row, found] of await measureGroup(new Site(column, aspects, site))) {
      findings.set(row, found);
    }
  }
  return new Map(all.map(({ name }) => [name, findings.get(name) ?? { commit: [], undo: [] }]));
}

async function measureGroup(site: Site): Promise<Findings> {
  const { column, options } = site;
  const before = site.plant();
  const { ref } = await site.work<Committed>({
    step: "commit",
    options,
    strategyName: column.strategyName,
    resource: {
      resourceId: "awkward",
      type: "fs-directory",
      location: site.resource,
      ...(column.properties !== undefined && { properties: column.properties }),
    },
    script: scriptOf(site.aspects, "edit"),
    inNamespace: column.inNamespace === true,
  });
  const committed = differences(look(site.copy), look(site.resource));
  if (column.noUndo !== true) await site.work({ step: "undo", options, ref });
  const undone = column.noUndo === true ? [] : differences(before, look(site.resource));
  await site.work({ step: "cleanup", options, ref });
  return sort(site.aspects, committed, undone);
}

interface Difference {
  readonly path: string;
  readonly line: string;
  readonly isFolderTime?: boolean;
}

/** The folders of one measurement. */
class Site {
  readonly resource: string;
  readonly copy: string;
  readonly options: { readonly stateDirectory: string; readonly config: false };
  readonly column: Column;
  readonly aspects: readonly Aspect[];
  readonly #folder: string;

  constructor(column: Column, aspects: readonly Aspect[], folder: string) {
    this.column = column;
    this.aspects = aspects;
    this.#folder = folder;
    this.resource = join(folder, "resource");
    this.copy = join(folder, "copy");
    this.options = { stateDirectory: join(folder, "state"), config: false };
  }

  /** Makes the resource and its plain copy, lets the programs work in the copy, and tells what the resource was. */
  plant(): Oracle {
    const { aspects } = this;
    chmodSync(this.#folder, 0o755);
    mkdirSync(this.resource);
    sh(this.resource, scriptOf(aspects, "plant"), 0);
    if (this.#uid !== 0) {
      chownSync(this.#folder, this.#uid, this.#uid);
      sh(this.resource, `chown -hR ${this.#uid}:${this.#uid} .`, 0);
    }
    const before = look(this.resource);
    sh(this.#folder, "cp -a resource copy", 0);
    sh(this.copy, scriptOf(aspects, "edit"), this.#uid);
    return before;
  }

  async work<T>(work: Work): Promise<T> {
    const node = join(this.#folder, `fuse-${work.step}`);
    const { code, stdout, stderr } = await runChild(PROGRAM, [], {
      input: JSON.stringify(work),
      ...(this.#uid !== 0 && { wrapper: asOrdinaryUser(this.#uid, node) }),
      env: { HOME: this.#folder },
    });
    if (code !== 0) throw new Error(`${work.step} ended with ${code}: ${stderr}`);
    return (stdout === "" ? undefined : JSON.parse(stdout)) as T;
  }

  get #uid(): number {
    return this.column.user === "root" ? 0 : nobody.uid;
  }
}

/** The oracle, which also tells whether a large file has holes. */
function look(root: string): Oracle {
  const done = sh(root, String.raw`find . -type f -size +1M -printf '%P\0%S\0'`, 0).split("\0");
  const sparse = new Map<string, boolean>();
  for (let at = 0; at + 1 < done.length; at += 2)
    sparse.set(done[at] ?? "", Number(done[at + 1]) < 0.5);
  return takeOracle(root).map((record): OracleRecord => {
    const isSparse = sparse.get(record.path);
    return isSparse === undefined ? record : { ...record, device: isSparse ? "holes" : "full" };
  });
}

function differences(expected: Oracle, actual: Oracle): Difference[] {
  const folders = new Set(expected.filter(({ type }) => type === "d").map(({ path }) => path));
  return oracleDifferences(expected, actual).map((line) => {
    const shown = /^"(?:[^"\\]|\\.)*"/.exec(line)?.[0] ?? '"."';
    const name = JSON.parse(shown) as string;
    const path = name === "." ? "" : name;
    const isFolderTime = folders.has(path) && line.startsWith(`${shown}: mtime `);
    return { path, line, isFolderTime };
  });
}

/** Gives every difference to the row of its folder, except times of folders, which have a row of their own. */
function sort(
  aspects: readonly Aspect[],
  commit: readonly Difference[],
  undo: readonly Difference[],
): Findings {
  const rowOf = ({ path, isFolderTime }: Difference): string => {
    const aspect = aspects.find((one) => path.split("/")[0] === folderOf(one));
    const isOwn = aspect !== undefined && (isFolderTime !== true || aspect.ownTimes === true);
    return isOwn ? aspect.name : FOLDER_TIMES;
  };
  const pick = (all: readonly Difference[], name: string): string[] =>
    all.filter((one) => rowOf(one) === name).map(({ line }) => line);
  return new Map(
    aspects.map(({ name }) => [name, { commit: pick(commit, name), undo: pick(undo, name) }]),
  );
}

function sh(folder: string, script: string, uid: number): string {
  const done = spawnSync("sh", ["-uc", script], {
    cwd: folder,
    encoding: "latin1",
    env: { PATH: process.env["PATH"], LC_ALL: "C" },
    uid,
    gid: uid,
  });
  if (done.status !== 0 || done.stderr !== "")
    throw new Error(`a script failed in ${folder}: ${done.stderr}`);
  return done.stdout;
}
