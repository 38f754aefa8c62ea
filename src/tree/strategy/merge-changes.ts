import { mkdir, open } from "node:fs/promises";
import type { StrategyHost } from "../../contract/host.ts";
import { SandboxCommitError } from "../../errors/index.ts";
import { type BytePath, displayPath } from "../../model/byte-path.ts";
import type { TreeConflict } from "../conflicts.ts";
import type { TreeChange } from "../tree-change.ts";
import type { SandboxPlace } from "../workspace.ts";
import { findAncestor } from "./pre-image.ts";

/** What became of the conflicts: merged ones may be published. */
export interface MergeOutcome {
  readonly merged: readonly TreeChange[];
  readonly conflicts: readonly TreeConflict[];
}

const MAX_CONFLICT_EXIT = 127;

/**
 * Merges files that both sides changed, where the common ancestor is proven. Never merges two-way: without an
 * ancestor the path stays a conflict.
 */
export async function mergeConflicts(
  host: StrategyHost,
  place: SandboxPlace,
  conflicts: readonly TreeConflict[],
): Promise<MergeOutcome> {
  const merged: TreeChange[] = [];
  const remaining: TreeConflict[] = [];
  for (const conflict of conflicts) {
    const { change, real, reason } = conflict;
    const isFileOnBothSides = change.after?.type === "file" && real?.type === "file";
    if (reason !== "changed" || !isFileOnBothSides || change.source === null) {
      remaining.push(conflict);
      continue;
    }
    const ancestor = findAncestor(place, change.path);
    if (ancestor === null) {
      remaining.push({ ...conflict, reason: "noAncestor" });
      continue;
    }
    const theirs = `${place.root}/${change.path}` as BytePath;
    const text = await mergeFile(host, change.source, ancestor, theirs);
    if (text === null) {
      remaining.push({ ...conflict, reason: "overlap" });
      continue;
    }
    const source = await keep(place, merged.length, text);
    merged.push({ ...change, before: real, source, take: "move", contentDiffers: true });
  }
  return { merged, conflicts: remaining };
}

/** The merged content; null when both sides changed the same lines or the files are not text. */
async function mergeFile(
  host: StrategyHost,
  ours: BytePath,
  ancestor: BytePath,
  theirs: BytePath,
): Promise<Buffer | null> {
  const files = [ours, ancestor, theirs].map(displayPath);
  const result = await host.run("git", ["merge-file", "-p", "-q", "--", ...files]);
  if (result.exitCode === 0) return result.stdout;
  if (result.exitCode !== null && result.exitCode > 0 && result.exitCode <= MAX_CONFLICT_EXIT)
    return null;
  // 255: not text, or not readable; either way there is nothing that could be merged by lines.
  if (result.exitCode === 255) return null;
  throw new SandboxCommitError("git merge-file failed", {
    operation: "commit",
    cause: new Error(result.stderr.toString("utf8")),
    data: {
      originalRestored: true,
      undoDataAt: null,
      failedPath: displayPath(theirs),
      appliedCount: 0,
      reason: "merge",
    },
  });
}

async function keep(place: SandboxPlace, number: number, text: Buffer): Promise<BytePath> {
  const folder = `${place.directory}/merged`;
  await mkdir(displayPath(folder as BytePath), { recursive: true, mode: 0o700 });
  const path = `${folder}/${Date.now().toString(36)}-${number}` as BytePath;
  await using file = await open(displayPath(path), "wx", 0o600);
  await file.writeFile(text);
  return path;
}
