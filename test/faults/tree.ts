import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { type Oracle, takeOracle } from "../support/oracle.ts";
import { createTempFolder } from "../support/temp.ts";

/** The states that a tree or a workspace can be in. */
export type TreeState = "old" | "edited" | "later";

/** How edits are made: by programs in a directory, or by calls, which know fewer kinds of them. */
export type EditKind = "programs" | "calls";

/** A small tree with something of each kind, and what plain programs make of it by the edits. */
export interface Template {
  /** Holds the tree; to be given to `removeFolder`. */
  readonly folder: string;
  readonly tree: string;
  readonly states: Readonly<Record<EditKind, Readonly<Record<TreeState, Oracle>>>>;
}

// All times are fixed, so that equal trees are equal in every run.
const MAKE = `umask 022
mkdir -p docs/deep bin empty
printf 'alpha\\n' > a.txt; printf 'guide\\n' > docs/guide.md; printf 'old\\n' > docs/deep/old.md
printf '#!/bin/sh\\n' > bin/tool; chmod 755 bin/tool; ln -s a.txt link
find . -mindepth 1 -exec touch -h -d '2001-02-03 04:05:06.789012345' {} +
touch -d '2001-02-03 04:05:06.789012345' .`;

const EDIT = `umask 022
printf 'ALPHA, edited\\n' > a.txt; mkdir -p new/inner; printf 'new\\n' > new/inner/file.txt
rm docs/deep/old.md; rmdir empty; mv docs/guide.md docs/manual.md`;

/** What no call can do. */
const EDIT_BY_PROGRAMS = `chmod 700 bin/tool; ln -sfn docs/manual.md link
for path in a.txt new/inner/file.txt new/inner new docs/manual.md link; do
  touch -h -d '2011-02-03 04:05:06.111222333' "$path"
done
touch -d '2011-02-03 04:05:06.444555666' docs/deep docs bin .`;

const LATER = `printf 'even later\\n' > a.txt; printf 'later\\n' > later.txt; rm new/inner/file.txt`;
const LATER_BY_PROGRAMS = `touch -d '2021-02-03 04:05:06.777888999' a.txt later.txt new/inner .`;

const SCRIPTS: Record<EditKind, Record<Exclude<TreeState, "old">, string>> = {
  programs: { edited: `${EDIT}\n${EDIT_BY_PROGRAMS}`, later: `${LATER}\n${LATER_BY_PROGRAMS}` },
  calls: { edited: EDIT, later: LATER },
};

/** Makes the tree once; every point gets a copy of it. */
export function makeTemplate(): Template {
  const folder = createTempFolder();
  const tree = join(folder, "tree");
  execFileSync("mkdir", [tree]);
  runScript(tree, MAKE);
  const old = takeOracle(tree);
  const statesOf = (kind: EditKind): Record<TreeState, Oracle> => {
    const copy = join(folder, kind);
    execFileSync("cp", ["-a", tree, copy]);
    editTree(copy, kind, "edited");
    const edited = takeOracle(copy);
    editTree(copy, kind, "later");
    return { old, edited, later: takeOracle(copy) };
  };
  return { folder, tree, states: { programs: statesOf("programs"), calls: statesOf("calls") } };
}

/** Edits a directory with plain programs. */
export function editTree(folder: string, kind: EditKind, to: Exclude<TreeState, "old">): void {
  runScript(folder, SCRIPTS[kind][to]);
}

function runScript(folder: string, script: string): void {
  execFileSync("sh", ["-euc", script], { cwd: folder });
}
