import { mkdir, writeFile } from "node:fs/promises";
import type { StrategyHost } from "../../contract/host.ts";
import { SandboxCommitError } from "../../errors/index.ts";
import { type BytePath, type RelativePath, displayPath, nameOf } from "../../model/byte-path.ts";
import type { TreeConflict } from "../conflicts.ts";
import { copyFileTo } from "../copy-entry.ts";
import { SourceFolders } from "../publish/source-folders.ts";
import { readEntry } from "../read-entry.ts";
import { removeFolder } from "../remove-folders.ts";
import { removeTree } from "../remove-tree.ts";
import { withRoot } from "../scan/open-directory.ts";
import type { TreeChange } from "../tree-change.ts";
import { type TreeEntry, sameIdentity } from "../tree-entry.ts";
import type { SandboxPlace } from "../workspace.ts";
import { findAncestor } from "./ancestors.ts";
import { mergeAttributes } from "./merge-attributes.ts";

/** What became of the conflicts: merged ones may be published. */
export interface MergeOutcome {
  readonly merged: readonly TreeChange[];
  readonly conflicts: readonly TreeConflict[];
}

/** Where the versions to be merged lie. */
export interface MergeSources {
  /** The folders from which content may come. */
  readonly sourceRoots: readonly BytePath[];
  /** A tree with the whole base, where the workspace keeps one. */
  readonly baseTree?: BytePath | undefined;
}

/** How many conflicts `git merge-file` counts at most; beyond that it says that it failed. */
const MAX_CONFLICT_EXIT = 127;
const NOT_TEXT_EXIT = 255;
/** Settings of the user or of a repository around must not change what a merge is. */
const ENVIRONMENT = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_DIR: "/dev/null",
};

const folderOf = (place: SandboxPlace): BytePath => `${place.directory}/merged` as BytePath;

/**
 * Merges files that both sides changed, where the common ancestor is proven. Never merges two-way: without an
 * ancestor the path stays a conflict. Nothing of the sandbox and nothing real is changed.
 */
export async function mergeConflicts(
  host: StrategyHost,
  place: SandboxPlace,
  { sourceRoots, baseTree }: MergeSources,
  conflicts: readonly TreeConflict[],
): Promise<MergeOutcome> {
  removeFolder(folderOf(place));
  await mkdir(displayPath(folderOf(place)), { mode: 0o700 });
  using sources = new SourceFolders(sourceRoots);
  const merged: TreeChange[] = [];
  const remaining: TreeConflict[] = [];
  for (const conflict of conflicts) {
    const { change, real, reason } = conflict;
    const { after, source } = change;
    // An overlay cannot tell a replaced file from a new one; a proven ancestor can.
    if (
      (reason !== "changed" && reason !== "exists") ||
      source === null ||
      after?.type !== "file" ||
      real?.type !== "file"
    ) {
      remaining.push(conflict);
      continue;
    }
    const ancestor = findAncestor(place, change.path, baseTree);
    if (ancestor === null) {
      remaining.push({ ...conflict, reason: "noAncestor" });
      continue;
    }
    const attributes = mergeAttributes(
      after,
      readEntry(sources.open(ancestor), nameOf(ancestor)),
      real,
    );
    const sides = { ours: source, ancestor, theirs: real };
    const text = attributes && (await mergeFile(host, place, sources, change.path, sides));
    if (attributes === null || text === null) remaining.push({ ...conflict, reason: "overlap" });
    else {
      const written = await write(place, `merged-${merged.length}`, text);
      const wanted = { ...after, ...attributes, ...written.entry };
      merged.push({
        ...change,
        before: real,
        after: wanted,
        source: written.path,
        take: "clone",
        contentDiffers: true,
      });
    }
  }
  return { merged, conflicts: remaining };
}

/** Removes what a merge has left in the sandbox's folder. Idempotent. */
export function dropMerged(place: SandboxPlace): void {
  removeFolder(folderOf(place));
}

interface Sides {
  readonly ours: BytePath;
  readonly ancestor: BytePath;
  /** The real file, as it was when the conflict was found. */
  readonly theirs: TreeEntry;
}

/** The merged content; null when both sides changed the same lines, or the files are not text. */
async function mergeFile(
  host: StrategyHost,
  place: SandboxPlace,
  sources: SourceFolders,
  path: RelativePath,
  sides: Sides,
): Promise<Buffer | null> {
  // Private copies: their names are plain text, and nobody can swap or change them while git reads.
  if (!copySides(place, sources, path, sides)) return null;
  const files = ["ours", "ancestor", "theirs"].map((name) =>
    displayPath(`${folderOf(place)}/${name}` as BytePath),
  );
  const result = await host.run("git", ["merge-file", "-p", "-q", "--", ...files], {
    cwd: "/",
    env: ENVIRONMENT,
  });
  const { exitCode } = result;
  if (exitCode === 0) return result.stdout;
  const isConflict = exitCode !== null && exitCode > 0 && exitCode <= MAX_CONFLICT_EXIT;
  if (isConflict || exitCode === NOT_TEXT_EXIT) return null;
  throw mergeFailure(path, result.stderr);
}

/** False when the real file is no longer the one that was found. */
function copySides(
  place: SandboxPlace,
  sources: SourceFolders,
  path: RelativePath,
  { ours, ancestor, theirs }: Sides,
): boolean {
  const real = `${place.root}/${path}` as BytePath;
  return withRoot(folderOf(place), (fd) => {
    for (const [name, file] of Object.entries({ ours, ancestor, theirs: real })) {
      removeTree(fd, name);
      copyFileTo(sources.open(file), nameOf(file), fd, name, { reflink: "auto" });
    }
    return sameIdentity(readEntry(sources.open(real), nameOf(real)), theirs);
  });
}

/** Writes merged content and gives what a change says about it. */
async function write(
  place: SandboxPlace,
  name: string,
  text: Buffer,
): Promise<{ path: BytePath; entry: Pick<TreeEntry, "size" | "mtimeNs"> }> {
  const path = `${folderOf(place)}/${name}` as BytePath;
  await writeFile(displayPath(path), text, { flag: "wx", mode: 0o600 });
  const { size, mtimeNs } = withRoot(folderOf(place), (fd) => readEntry(fd, name));
  return { path, entry: { size, mtimeNs } };
}

function mergeFailure(path: RelativePath, stderr: Buffer): SandboxCommitError {
  return new SandboxCommitError("git merge-file failed; nothing was published", {
    operation: "commit",
    cause: new Error(stderr.toString("utf8")),
    data: {
      originalRestored: true,
      undoDataAt: null,
      failedPath: displayPath(path),
      appliedCount: 0,
      reason: "merge",
    },
  });
}
