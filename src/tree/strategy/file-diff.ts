import { createDiffView } from "../../contract/diff-view.ts";
import type { DiffOptions } from "../../contract/strategy.ts";
import { type BytePath, type RelativePath, toBytePath } from "../../model/byte-path.ts";
import type { Change } from "../../model/change.ts";
import type { DiffView } from "../../model/diff-view.ts";
import { readBeneath } from "../beneath.ts";
import type { ChangeSet } from "../tree-change.ts";
import { runTask } from "../threads/pool.ts";
import { describeChanges } from "../view/describe-changes.ts";
import type { OpenPlace, Workspace } from "../workspace.ts";

/** What is described faster than a thread starts, and does not hold anybody up. */
const FEW_CHANGES = 200;
const FEW_BYTES = 2 ** 20;

/** The changes in their public form. */
export async function describeSet(place: OpenPlace, set: ChangeSet): Promise<Change[]> {
  const request = { root: place.root, changes: set.changes };
  return isSmall(set) ? describeChanges(request) : runTask("describeChanges", request);
}

function isSmall({ changes }: ChangeSet): boolean {
  if (changes.length > FEW_CHANGES) return false;
  const bytes = changes.reduce(
    (sum, { before, after }) => sum + (before?.size ?? 0) + (after?.size ?? 0),
    0,
  );
  return bytes <= FEW_BYTES;
}

/** The whole diff of a file sandbox; content for text is read only when asked for. */
export async function diffFiles(
  place: OpenPlace,
  set: ChangeSet,
  workspace: Workspace,
  options: DiffOptions,
): Promise<DiffView> {
  const drift = options.drift === "full" ? await workspace.drift(place, set) : undefined;
  return createDiffView({
    sandboxId: place.ref.sandboxId,
    base: place.ref.baseFingerprintId,
    changes: await describeSet(place, set),
    skipped: set.skipped,
    ...(drift !== undefined && { drift }),
    readBefore: (change) => Promise.resolve(readOrNull(place.root, pathOf(change))),
    readAfter: (change) => workspace.read(place, pathOf(change)),
  });
}

function pathOf(change: Change): RelativePath {
  const bytes = change.pathBytes === undefined ? change.path : Buffer.from(change.pathBytes, "hex");
  return toBytePath(bytes) as RelativePath;
}

function readOrNull(root: BytePath, path: RelativePath): Buffer | null {
  try {
    return readBeneath(root, path);
  } catch {
    return null;
  }
}
