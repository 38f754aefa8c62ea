import { type CommitResult, SandboxCommitError, commitResultOf, digestChanges } from "cofferdam";
import type { CommitOptions, Json, TransactionPart } from "cofferdam";
import { refuseClashes } from "./conflicts.ts";
import { inParallel } from "./in-parallel.ts";
import type { Edit } from "./object-state.ts";
import { type OpenSandbox, changeOf, changedEdits, unpublishedEdits } from "./open-sandbox.ts";
import { NOTHING, ownVersion, publish } from "./publish.ts";
import type { Step } from "./transaction-log.ts";
import { abortUploads, beginUploads, upload } from "./uploads.ts";

/** The note that versions may have been made; it stands under no key. */
const ALL = "";

/** What is kept with the intent of a commit. */
interface CommitRecord {
  readonly noop: boolean;
  readonly message: string | null;
}

/** Checks everything and sends all contents, where nobody sees them. */
export async function prepareCommit(
  sandbox: OpenSandbox,
  tx: TransactionPart,
  { expect, message: told }: CommitOptions,
): Promise<Json> {
  const message = told ?? null;
  const edits = await unpublishedEdits(sandbox);
  if (expect !== undefined && digestOf(sandbox, edits) !== expect) throw notAsReviewed();
  if (edits.length === 0) return { noop: true, message };
  await refuseClashes(sandbox, edits);
  const log = sandbox.place.transaction(tx.ulid);
  const sent = stagedOf(edits);
  await beginUploads(sandbox, log, makerOf(tx), [...sent.keys()]);
  await inParallel([...sent], (one) => upload(sandbox, log, makerOf(tx), one));
  return { noop: false, message };
}

/** Looks once more whether everybody else has left the keys alone. */
export async function fenceCommit(sandbox: OpenSandbox, tx: TransactionPart): Promise<void> {
  if (!recordOf(tx).noop) await refuseClashes(sandbox, await changedEdits(sandbox.place));
}

/** Makes every edit a version of its key. */
export async function applyCommit(
  sandbox: OpenSandbox,
  tx: TransactionPart,
): Promise<CommitResult> {
  const { place } = sandbox;
  const { noop } = recordOf(tx);
  const edits = noop ? [] : await changedEdits(place);
  const log = place.transaction(tx.ulid);
  if (!noop) {
    const before = await log.steps();
    const isRepeated = before.has(ALL);
    if (!isRepeated) {
      // As long as the server does not answer, nothing has begun, and the commit can be taken back without it.
      await sandbox.bucket.historyOf(edits[0]?.[0] ?? sandbox.location.prefix);
      await log.note(ALL, {});
    }
    const isLate = tx.recovering === true;
    const job = { sandbox, log, maker: makerOf(tx), isRepeated, isLate };
    await inParallel(edits, ([key, edit]) => publish(job, key, edit, before.get(key)));
    await place.setPublished({ ulid: tx.ulid });
  }
  return resultOf(sandbox, tx, edits, await log.steps());
}

/** Throws the sent contents away. The edits have never left the sandbox. */
export async function abandonCommit(sandbox: OpenSandbox, tx: TransactionPart): Promise<void> {
  const log = sandbox.place.transaction(tx.ulid);
  if ((await log.beginning()) === null) return;
  await abortUploads(sandbox, log, [...stagedOf(await changedEdits(sandbox.place)).keys()]);
  await log.remove();
}

/** Removes the versions that were made; what was there before is the present state again. */
export async function reverseCommit(sandbox: OpenSandbox, tx: TransactionPart): Promise<void> {
  const { place, bucket } = sandbox;
  const log = place.transaction(tx.ulid);
  const steps = await log.steps();
  if (recordOf(tx).noop || !steps.has(ALL)) return;
  const edits = await changedEdits(place);
  await abortUploads(sandbox, log, [...stagedOf(edits).keys()]);
  await inParallel(edits, async ([key, edit]) => {
    const own = steps.get(key)?.versionId ?? (await unnotedVersion(sandbox, tx, key, edit));
    if (own === null || own === NOTHING) return;
    await bucket.removeVersion(key, own);
    await log.note(key, { versionId: NOTHING });
  });
  await place.setPublished(null);
}

/** Drops what no undo of this commit needs. */
export async function forgetCommit({ place }: OpenSandbox, tx: TransactionPart): Promise<void> {
  if (recordOf(tx).noop) return;
  const own = place.transaction(tx.ulid);
  for (const log of await place.transactions()) if (log.file !== own.file) await log.remove();
}

/** A name for the versions of one member of a transaction, which nothing else has. */
export function makerOf({ gid, member }: TransactionPart): string {
  return `${gid}:${member}`;
}

/** The digest of the diff that these edits make. */
export function digestOf({ location }: OpenSandbox, edits: readonly [string, Edit][]): string {
  return digestChanges(edits.map(([key, edit]) => changeOf(location, key, edit)));
}

/** What a kill between the request and its note has left: a version of ours, or the marker of our deletion. */
async function unnotedVersion(
  { bucket }: OpenSandbox,
  tx: TransactionPart,
  key: string,
  { base, mine }: Edit,
): Promise<string | null> {
  if (mine !== null) return ownVersion(bucket, key, base, makerOf(tx));
  const newest = await bucket.historyOf(key);
  if (newest === null || !newest.isMarker) return null;
  const below = await bucket.historyOf(key, newest.versionId);
  return below?.versionId === base?.versionId ? newest.versionId : null;
}

function stagedOf(edits: readonly [string, Edit][]): Map<string, NonNullable<Edit["mine"]>> {
  return new Map(edits.flatMap(([key, { mine }]) => (mine === null ? [] : [[key, mine] as const])));
}

function recordOf({ record }: TransactionPart): CommitRecord {
  return (record ?? { noop: false, message: null }) as unknown as CommitRecord;
}

function resultOf(
  sandbox: OpenSandbox,
  tx: TransactionPart,
  edits: readonly [string, Edit][],
  steps: ReadonlyMap<string, Step>,
): CommitResult {
  const { location, ref } = sandbox;
  const { message, noop } = recordOf(tx);
  const changes = edits.map(([key, edit]) => changeOf(location, key, edit));
  const warnings = edits.flatMap(([key]) => warningOf(location.pathOf(key), steps.get(key)));
  const undoable = { possible: true, by: "the versions that the bucket keeps" };
  const facts = { at: sandbox.now(), undoable, warnings };
  const result = commitResultOf(ref, changes, facts);
  return { ...result, message, revision: noop ? null : tx.gid };
}

function warningOf(path: string, step: Step | undefined): string[] {
  const { versionId, shelved } = step ?? {};
  if (shelved === undefined) return [];
  return versionId === NOTHING
    ? [`${path} was changed by somebody else since (version ${shelved}), and stays so.`]
    : [
        `${path} was changed by somebody else at the last moment; that is kept as version ${shelved || "deleted"}.`,
      ];
}

function notAsReviewed(): SandboxCommitError {
  return new SandboxCommitError("The sandbox changed after it was reviewed", {
    data: { originalRestored: true, undoDataAt: null, failedPath: null, appliedCount: 0 },
    operation: "commit",
    hint: "Look at the diff again, and commit with its digest.",
  });
}
