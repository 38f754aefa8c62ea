import type { Change, ChangeKind, EntryState } from "../model/change.ts";
import type { CommitResult } from "../model/commit-result.ts";
import { compareText } from "../model/compare-text.ts";
import type { SandboxRef } from "../model/sandbox-ref.ts";

/** What has to be done to one state to make it the other, by path. Special files are nobody's change. */
export function compareStates(
  before: ReadonlyMap<string, EntryState>,
  after: ReadonlyMap<string, EntryState>,
): Change[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])];
  return paths
    .map((path) => changeOf(path, before.get(path) ?? null, after.get(path) ?? null))
    .filter(({ kind, ...sides }) => kind !== "unchanged" && !isSpecial(sides))
    .sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path)));
}

/** The change of one path. The time of a folder follows its entries and counts for nothing. */
export function changeOf(
  path: string,
  before: EntryState | null,
  after: EntryState | null,
): Change {
  return { path, kind: kindOf(before, after), before, after };
}

/** Whether nothing would have to be done to make one the other. */
export function isSameState(a: EntryState | null, b: EntryState | null): boolean {
  return kindOf(a, b) === "unchanged";
}

/** The changes that take these back. */
export function reverseChanges(changes: readonly Change[]): Change[] {
  return changes.map(({ path, before, after }) => changeOf(path, after, before));
}

/** What only the strategy knows about a commit. */
export interface CommitFacts {
  readonly at: Date;
  readonly message?: string | undefined;
  readonly undoable: CommitResult["undoable"];
  readonly warnings?: readonly string[];
}

/** The answer of a commit that published these changes. */
export function commitResultOf(
  { sandboxId, strategyName }: SandboxRef,
  changes: readonly Change[],
  { at, message, undoable, warnings = [] }: CommitFacts,
): CommitResult {
  const paths = (isListed: (change: Change) => boolean): string[] =>
    changes.filter(isListed).map(({ path }) => path);
  return {
    success: true,
    sandboxId,
    strategyName,
    added: paths(({ before }) => before === null),
    changed: paths(({ before, after }) => before !== null && after !== null),
    deleted: paths(({ after }) => after === null),
    noop: changes.length === 0,
    message: message ?? null,
    revision: null,
    committedAt: at.toISOString(),
    undoable,
    warnings,
    metadata: {},
  };
}

function isSpecial({ before, after }: Pick<Change, "before" | "after">): boolean {
  return before?.type === "special" || after?.type === "special";
}

function kindOf(before: EntryState | null, after: EntryState | null): ChangeKind {
  if (before === null) return after === null ? "unchanged" : "added";
  if (after === null) return "deleted";
  if (before.type !== after.type) return "typeChanged";
  if (before.target !== after.target) return "linkChanged";
  if (before.hash !== after.hash) return "modified";
  if (before.mode !== after.mode) return "modeChanged";
  const isSameTime = after.type === "directory" || before.mtimeNs === after.mtimeNs;
  const isSameOwner = before.uid === after.uid && before.gid === after.gid;
  const isSameRest = attributesText(before) === attributesText(after);
  return isSameTime && isSameOwner && isSameRest ? "unchanged" : "attributesChanged";
}

function attributesText({ xattrs }: EntryState): string {
  const named = Object.entries(xattrs ?? {}).sort(([a], [b]) => compareText(a, b));
  return JSON.stringify(named);
}
