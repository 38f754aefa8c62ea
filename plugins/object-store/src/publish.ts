import type { Bucket, Condition, HistoryEntry, Upload } from "./bucket.ts";
import type { Edit, ObjectVersion, StagedObject } from "./object-state.ts";
import type { OpenSandbox } from "./open-sandbox.ts";
import { isStoreProblem } from "./store-error.ts";
import type { Step, TransactionLog } from "./transaction-log.ts";
import { upload } from "./uploads.ts";

/** How far back a version of ours is looked for, among those that others made since. */
const FAR_BACK = 100;

/** Says that there is no version of ours: others had done it already, or have gone on since. */
export const NOTHING = "";

/** What publishing one key needs to know. */
export interface PublishJob {
  readonly sandbox: OpenSandbox;
  readonly log: TransactionLog;
  readonly maker: string;
  /** A part of this may be done already, by this process or another one. */
  readonly isRepeated: boolean;
  /** Long ago somebody else began this: what others did since stays as it is. */
  readonly isLate: boolean;
}

/** Makes one edit the present state of its key. May be repeated: one version comes of it. */
export async function publish(
  job: PublishJob,
  key: string,
  edit: Edit,
  step: Step | undefined,
): Promise<void> {
  if (step?.versionId !== undefined) return;
  const { sandbox, log, isLate } = job;
  const foreign = isLate ? await foreignAbove(job, key, edit) : null;
  if (foreign !== null) return log.note(key, { versionId: NOTHING, shelved: foreign });
  const { mine, base } = edit;
  const versionId =
    mine === null
      ? await removed(job, key)
      : await completed(job, key, { base, mine }, step?.upload);
  if (versionId === NOTHING) return log.note(key, { versionId });
  if (mine !== null) await sandbox.bucket.ensureTags(key, versionId, mine.properties.tags);
  const below = await sandbox.bucket.historyOf(key, versionId);
  const shelved = isBase(below, base) ? {} : { shelved: below?.versionId ?? NOTHING };
  await log.note(key, { versionId, ...shelved });
}

/** The version of ours in the history of a key, down to the one that the edit began with; null when there is none. */
export async function ownVersion(
  bucket: Bucket,
  key: string,
  base: ObjectVersion | null,
  maker: string,
): Promise<string | null> {
  let entry = await bucket.historyOf(key);
  for (let looked = 0; entry !== null && looked < FAR_BACK; looked += 1) {
    if (entry.versionId === base?.versionId) return null;
    if (!entry.isMarker && (await bucket.makerOf(key, entry.versionId)) === maker)
      return entry.versionId;
    entry = await bucket.historyOf(key, entry.versionId);
  }
  return null;
}

/** What others put on top of the version that the edit began with; null when it is still the newest, or ours is. */
async function foreignAbove(
  { sandbox: { bucket }, maker, isRepeated }: PublishJob,
  key: string,
  { base, mine }: Edit,
): Promise<string | null> {
  const newest = await bucket.historyOf(key);
  if (newest === null || isBase(newest, base)) return null;
  if (mine === null && newest.isMarker && isRepeated) return null;
  if (mine !== null && (await ownVersion(bucket, key, base, maker)) !== null) return null;
  return newest.versionId;
}

async function removed(
  { sandbox: { bucket }, isRepeated }: PublishJob,
  key: string,
): Promise<string> {
  const newest = await bucket.historyOf(key);
  if (newest !== null && !newest.isMarker) return (await bucket.remove(key)) ?? NOTHING;
  // It is gone. If we began to remove it before, it was us; else somebody else was quicker.
  return isRepeated ? (newest?.versionId ?? NOTHING) : NOTHING;
}

async function completed(
  job: PublishJob,
  key: string,
  { base, mine }: { readonly base: ObjectVersion | null; readonly mine: StagedObject },
  known: Upload | undefined,
): Promise<string> {
  const { sandbox, log, maker, isRepeated } = job;
  const find = (): Promise<string | null> => ownVersion(sandbox.bucket, key, base, maker);
  const done = isRepeated ? await find() : null;
  if (done !== null) return done;
  const send = (): Promise<Upload> => upload(sandbox, log, maker, [key, mine]);
  const isSent = known !== undefined && known.parts.length > 0;
  try {
    return await completeOrFind(sandbox.bucket, key, isSent ? known : await send(), base, find);
  } catch (thrown) {
    // Servers throw uploads away that lie too long; what they have answered says nothing reliable about it.
    const isGone = isSent && (await sandbox.bucket.partsOf(key, known.id)) === null;
    if (!isGone) throw thrown;
    return completeOrFind(sandbox.bucket, key, await send(), base, find);
  }
}

async function completeOrFind(
  bucket: Bucket,
  key: string,
  sent: Upload,
  base: ObjectVersion | null,
  find: () => Promise<string | null>,
): Promise<string> {
  const condition: Condition = base === null ? { IfNoneMatch: "*" } : { IfMatch: base.etag };
  try {
    const versionId = await completeUnless(bucket, key, sent, condition);
    const found = versionId ?? (await find());
    if (found !== null) return found;
  } catch (thrown) {
    const found = await find();
    if (found !== null) return found;
    throw thrown;
  }
  throw new Error(`the server has completed an upload to ${key}, and shows no version of it`);
}

/**
 * Completes under the condition that nobody was quicker, where the server understands it. The decision has been made: if
 * somebody was, theirs becomes an earlier version, and is told.
 */
async function completeUnless(
  bucket: Bucket,
  key: string,
  sent: Upload,
  condition: Condition,
): Promise<string | null> {
  try {
    return await bucket.complete(key, sent, condition);
  } catch (thrown) {
    if (!isStoreProblem(thrown, "condition", "missing")) throw thrown;
    return bucket.complete(key, sent);
  }
}

function isBase(entry: HistoryEntry | null, base: ObjectVersion | null): boolean {
  if (base === null) return entry === null || entry.isMarker;
  return entry?.versionId === base.versionId;
}
