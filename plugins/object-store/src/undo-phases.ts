import { type CommitResult, SandboxRollbackError, commitResultOf } from "cofferdam";
import type { Json, TransactionPart } from "cofferdam";
import { makerOf } from "./commit-phases.ts";
import { inParallel } from "./in-parallel.ts";
import type { Edit } from "./object-state.ts";
import { type OpenSandbox, changeOf, changedEdits } from "./open-sandbox.ts";
import { NOTHING, publish } from "./publish.ts";
import { abortUploads, beginUploads } from "./uploads.ts";

/** The note that versions may have been removed; it stands under no key. */
const ALL = "";

/** What is kept with the intent of an undo. */
interface UndoRecord {
  readonly noop: boolean;
  /** The commit that is taken back. */
  readonly commit: string;
}

/** One key of a commit: what was done to it, and the version that came of it. */
interface MadeVersion {
  readonly key: string;
  readonly edit: Edit;
  readonly versionId: string;
}

/** Checks that everything can be taken back. */
export async function prepareUndo(sandbox: OpenSandbox, tx: TransactionPart): Promise<Json> {
  const published = await sandbox.place.published();
  if (published === null) return { noop: true, commit: "" };
  await checkUndo(sandbox);
  // Contents are sent only if this undo has to be taken back itself.
  const log = sandbox.place.transaction(tx.ulid);
  await beginUploads(sandbox, log, backMakerOf(tx), await sentKeys(sandbox));
  return { noop: false, commit: published.ulid };
}

/** Looks whether our versions still are the newest ones, and what lies below them is still there. */
export async function checkUndo(sandbox: OpenSandbox): Promise<void> {
  const { bucket, location } = sandbox;
  const made = await fenceUndo(sandbox);
  const lost = await inParallel(made, async ({ key, edit: { base } }) => {
    const isThere = base === null || (await bucket.head(key, base.versionId)) !== null;
    return isThere ? [] : [location.pathOf(key)];
  });
  if (lost.flat().length > 0) throw refused("undoDataMissing", lost.flat());
}

/** Looks once more whether nobody has put anything on top of our versions, which are given back. */
export async function fenceUndo(sandbox: OpenSandbox): Promise<readonly MadeVersion[]> {
  const { bucket, location, place } = sandbox;
  const published = await place.published();
  const made = published === null ? [] : await madeBy(sandbox, published.ulid);
  const foreign = await inParallel(made, async ({ key, versionId }) => {
    const newest = await bucket.historyOf(key);
    return newest?.versionId === versionId ? [] : [location.pathOf(key)];
  });
  if (foreign.flat().length > 0) throw refused("foreignEdits", foreign.flat());
  return made;
}

/** Removes the versions of the commit, so that the ones before are the present ones again. */
export async function applyUndo(sandbox: OpenSandbox, tx: TransactionPart): Promise<CommitResult> {
  const { place, bucket, location, ref } = sandbox;
  const { noop, commit } = recordOf(tx);
  const made = noop ? [] : await madeBy(sandbox, commit);
  const log = place.transaction(tx.ulid);
  if (!noop) {
    if (!(await log.steps()).has(ALL)) {
      await bucket.historyOf(made[0]?.key ?? location.prefix);
      await log.note(ALL, {});
    }
    await inParallel(made, ({ key, versionId }) => bucket.removeVersion(key, versionId));
    await place.setPublished(null);
  }
  const changes = made.map(({ key, edit }) => {
    const { path, before, after } = changeOf(location, key, edit);
    return { path, kind: "modified", before: after, after: before } as const;
  });
  const undoable = { possible: false, by: "nothing" };
  return commitResultOf(ref, changes, { at: sandbox.now(), undoable });
}

/** Publishes the commit again where it was taken back already. */
export async function reverseUndo(sandbox: OpenSandbox, tx: TransactionPart): Promise<void> {
  const { place } = sandbox;
  const { noop, commit } = recordOf(tx);
  const log = place.transaction(tx.ulid);
  const steps = await log.steps();
  if (noop || !steps.has(ALL)) return;
  const commitLog = place.transaction(commit);
  const job = { sandbox, log, maker: backMakerOf(tx), isRepeated: true, isLate: false };
  await inParallel(await madeBy(sandbox, commit), async (made) => {
    if (await isThere(sandbox, made)) return;
    await publish(job, made.key, made.edit, steps.get(made.key));
    const versionId = (await log.steps()).get(made.key)?.versionId;
    if (versionId !== undefined) await commitLog.note(made.key, { versionId });
  });
  await place.setPublished({ ulid: commit });
}

/** Throws away what a reversal sent and never published. */
export async function abandonUndo(sandbox: OpenSandbox, tx: TransactionPart): Promise<void> {
  const log = sandbox.place.transaction(tx.ulid);
  const isBegun = (await log.steps()).has(ALL);
  if (isBegun) await abortUploads(sandbox, log, await sentKeys(sandbox));
  await log.remove();
}

/** Drops everything about the commit and about its undo. */
export async function forgetUndo({ place }: OpenSandbox): Promise<void> {
  for (const log of await place.transactions()) await log.remove();
}

/** Whether what the commit made of a key is still so. */
async function isThere(
  { bucket }: OpenSandbox,
  { key, edit, versionId }: MadeVersion,
): Promise<boolean> {
  if (edit.mine !== null) return (await bucket.head(key, versionId)) !== null;
  return (await bucket.historyOf(key))?.versionId === versionId;
}

async function madeBy({ place }: OpenSandbox, ulid: string): Promise<MadeVersion[]> {
  const steps = await place.transaction(ulid).steps();
  return (await changedEdits(place)).flatMap(([key, edit]) => {
    const versionId = steps.get(key)?.versionId ?? NOTHING;
    return versionId === NOTHING ? [] : [{ key, edit, versionId }];
  });
}

async function sentKeys({ place }: OpenSandbox): Promise<string[]> {
  return (await changedEdits(place)).flatMap(([key, { mine }]) => (mine === null ? [] : [key]));
}

function backMakerOf(tx: TransactionPart): string {
  return `${makerOf(tx)}:back`;
}

function recordOf({ record }: TransactionPart): UndoRecord {
  return (record ?? { noop: true, commit: "" }) as unknown as UndoRecord;
}

function refused(
  reason: "foreignEdits" | "undoDataMissing",
  paths: readonly string[],
): SandboxRollbackError {
  const what = {
    foreignEdits: "Somebody else changed what was committed",
    undoDataMissing: "The bucket does not keep the earlier versions any more",
  }[reason];
  return new SandboxRollbackError(`${what}: ${paths.join(", ")}`, {
    data: { reason, originalRestored: false, undoDataAt: null, asideAt: null, paths },
    operation: "undoCommit",
    hint: "The objects stay as they are. Each version can be fetched from the bucket by hand.",
  });
}
