import { createHash } from "node:crypto";
import type { Change, EntryState, SkippedEntry } from "../model/change.ts";
import { compareText } from "../model/compare-text.ts";
import type { DiffSummary, DiffView, DriftEntry } from "../model/diff-view.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";
import { type ContentReader, renderText } from "./diff-text.ts";

/** What a diff view is made from. */
export interface DiffViewInit extends ContentReader {
  readonly sandboxId: string;
  readonly base: string;
  /** What one change is about; a file or folder unless given. */
  readonly unit?: DiffView["unit"];
  readonly changes: readonly Change[];
  readonly skipped?: readonly SkippedEntry[];
  /** Commits that are in the sandbox already and get published. */
  readonly commits?: number;
  /** Commits that are in the sandbox and do not get published. */
  readonly strayCommits?: number;
  readonly drift?: readonly DriftEntry[];
}

/** Completes a list of changes to a `DiffView`: order, summary, digest and lazy text. */
export function createDiffView(init: DiffViewInit): DiffView {
  const changes = init.changes
    .filter((change) => change.kind !== "unchanged")
    .sort((a, b) => Buffer.compare(changedPathBytes(a), changedPathBytes(b)));
  return {
    sandboxId: init.sandboxId,
    base: init.base,
    ...(init.unit !== undefined && { unit: init.unit }),
    changes,
    summary: summarizeChanges(changes),
    skipped: init.skipped ?? [],
    ...(init.commits !== undefined && { commits: init.commits }),
    ...(init.strayCommits !== undefined && { strayCommits: init.strayCommits }),
    ...(init.drift !== undefined && { drift: init.drift }),
    digest: digestChanges(changes),
    isEmpty: changes.length === 0,
    text: (options) => renderText(changes, init, options),
  };
}

/** The view of a sandbox whose changes were found, where the content of either side can be had from its state. */
export function diffViewOf(
  { sandboxId, baseFingerprintId }: SandboxRef,
  changes: readonly Change[],
  contentOf: (state: EntryState) => Promise<Uint8Array | null>,
): DiffView {
  const read = (state: EntryState | null): Promise<Uint8Array | null> =>
    state === null ? Promise.resolve(null) : contentOf(state);
  return createDiffView({
    sandboxId,
    base: baseFingerprintId,
    changes,
    readBefore: ({ before }) => read(before),
    readAfter: ({ after }) => read(after),
  });
}

/** The exact bytes of a change's path. */
export function changedPathBytes(change: Pick<Change, "path" | "pathBytes">): Buffer {
  return change.pathBytes === undefined
    ? Buffer.from(change.path, "utf8")
    : Buffer.from(change.pathBytes, "hex");
}

/** How many changes there are of each kind, and how many bytes they publish. */
export function summarizeChanges(changes: readonly Change[]): DiffSummary {
  const counts: Partial<Record<Change["kind"], number>> = {};
  let renamed = 0;
  let bytes = 0;
  for (const change of changes) {
    const { count = 1 } = change;
    counts[change.kind] = (counts[change.kind] ?? 0) + count;
    if (change.renamedFrom !== undefined) renamed++;
    const hasNewContent =
      change.kind === "added" || change.kind === "modified" || change.kind === "typeChanged";
    if (hasNewContent) bytes += (change.after?.size ?? 0) * count;
  }
  return { counts, renamed, bytes };
}

/** SHA-256 over everything a commit would publish, times left out. */
export function digestChanges(changes: readonly Change[]): string {
  const hash = createHash("sha256");
  for (const change of changes) {
    const { kind, before, after, count } = change;
    const path = changedPathBytes(change).toString("hex");
    const sides = [digestSide(before), digestSide(after)];
    hash.update(JSON.stringify([path, kind, ...sides, ...(count === undefined ? [] : [count])]));
    hash.update("\n");
  }
  return hash.digest("hex");
}

function digestSide(side: EntryState | null): unknown {
  if (side === null) return null;
  const xattrs = Object.entries(side.xattrs ?? {}).sort(([a], [b]) => compareText(a, b));
  return [side.type, side.mode, side.uid, side.gid, side.size, side.hash, side.target, xattrs];
}
