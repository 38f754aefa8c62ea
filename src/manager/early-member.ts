import { capabilitiesOf } from "../contract/capabilities-of.ts";
import type { CommitOptions, SandboxStrategy, TransactionPart } from "../contract/strategy.ts";
import { resourceRoot } from "../journal/resource-root.ts";
import type { IntentMember } from "../journal/transaction-record.ts";
import { toBytePath } from "../model/byte-path.ts";
import type { CommitResult } from "../model/commit-result.ts";
import type { DiffView } from "../model/diff-view.ts";
import { fingerprintPaths } from "../tree/fingerprint-paths.ts";

/** What is compared before an early commit and after its undo. */
export interface StateBefore {
  readonly digest: string;
  readonly changes: DiffView["changes"];
  /** Of the real paths that are going to change; null where the resource has none. */
  readonly fingerprint: string | null;
}

type EarlyMember = Pick<IntentMember, "ref" | "location"> & { readonly strategy: SandboxStrategy };

/** Commits a member that cannot prepare. `onBegin` is told what an undo has to bring back, before anything changes. */
export async function commitEarly(
  { strategy, ref, location }: EarlyMember,
  options: CommitOptions,
  onBegin: (before: StateBefore) => void,
): Promise<CommitResult> {
  const { digest, changes } = await strategy.diff(ref, options);
  onBegin({ digest, changes, fingerprint: fingerprintOf(location, changes) });
  return strategy.commit(ref, options);
}

/**
 * Takes such a commit back. A missing exception is no proof: the changes must be there again, and the resource what it
 * was; `before` is null when another process made the commit.
 */
export async function undoEarly(
  { strategy, ref, location }: EarlyMember,
  part: TransactionPart,
  before: StateBefore | null,
): Promise<void> {
  const { outcome } = capabilitiesOf(strategy, ref);
  if (outcome && (await strategy.outcome?.(ref, part)) === "aborted") return;
  await strategy.undoCommit?.(ref);
  if (before === null) return;
  const { digest } = await strategy.diff(ref);
  const isAsBefore =
    digest === before.digest && fingerprintOf(location, before.changes) === before.fingerprint;
  if (!isAsBefore) throw new Error("the strategy did not bring the resource back");
}

function fingerprintOf(location: string, changes: DiffView["changes"]): string | null {
  const root = resourceRoot(location);
  return root === null ? null : fingerprintPaths(toBytePath(root.folder), changes);
}
