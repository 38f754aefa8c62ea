import type { Bucket, Upload } from "./bucket.ts";
import type { StagedObject } from "./object-state.ts";
import type { OpenSandbox } from "./open-sandbox.ts";
import { isStoreProblem } from "./store-error.ts";
import type { TransactionLog } from "./transaction-log.ts";

/** Servers want at least five megabytes in every part but the last, and take at most ten thousand parts. */
const PART = 64 * 1024 ** 2;

/** Notes which uploads to these keys are of others, before the first of ours. */
export async function beginUploads(
  { bucket, location }: OpenSandbox,
  log: TransactionLog,
  maker: string,
  keys: readonly string[],
): Promise<void> {
  const wanted = new Set(keys);
  const found = wanted.size === 0 ? [] : await bucket.uploads(location.prefix);
  const others = found.filter(({ key }) => wanted.has(key)).map(({ id }) => id);
  await log.begin({ maker, others });
}

/** Sends what an object is to become. Nobody sees it, and a crash leaves nothing that cannot be found again. */
export async function upload(
  { bucket, place }: OpenSandbox,
  log: TransactionLog,
  maker: string,
  [key, mine]: readonly [string, StagedObject],
): Promise<Upload> {
  const content = await place.content(mine.hash);
  const others = (await log.beginning())?.others ?? [];
  const id = await begun(bucket, key, others, () =>
    bucket.beginUpload(key, mine.properties, maker),
  );
  await log.note(key, { upload: { id, parts: [] } });
  const parts: string[] = [];
  for (let at = 0; at === 0 || at < content.length; at += PART) {
    const part = content.subarray(at, at + PART);
    parts.push(await bucket.uploadPart(key, id, parts.length + 1, part));
  }
  await log.note(key, { upload: { id, parts } });
  return { id, parts };
}

/** Tries a second time when the answer is lost. What the first may have begun would never be found again. */
async function begun(
  bucket: Bucket,
  key: string,
  others: readonly string[],
  begin: () => Promise<string>,
): Promise<string> {
  try {
    return await begin();
  } catch (thrown) {
    if (!isStoreProblem(thrown, "unreachable")) throw thrown;
    const found = (await bucket.uploads(key)).filter((one) => one.key === key);
    const ids = found.map(({ id }) => id);
    await abortNameless(bucket, key, ids, others);
    return begin();
  }
}

/** Throws away all that a transaction sent. */
export async function abortUploads(
  { bucket, location }: OpenSandbox,
  log: TransactionLog,
  keys: readonly string[],
): Promise<void> {
  const beginning = await log.beginning();
  if (beginning === null || keys.length === 0) return;
  const steps = await log.steps();
  for (const [key, step] of steps)
    if (step.upload !== undefined) await bucket.abort(key, step.upload.id);
  const nameless = new Set(keys.filter((key) => steps.get(key)?.upload === undefined));
  if (nameless.size === 0) return;
  const found = await bucket.uploads(location.prefix);
  for (const key of nameless) {
    const ids = found.filter((one) => one.key === key).map(({ id }) => id);
    await abortNameless(bucket, key, ids, beginning.others);
  }
}

/**
 * A crash can come between the beginning of an upload and the note of its id. Then it is the one that was not there
 * before and that has no part yet; where several are like that, they are not ours to judge.
 */
async function abortNameless(
  bucket: Bucket,
  key: string,
  ids: readonly string[],
  others: readonly string[],
): Promise<void> {
  const empty: string[] = [];
  for (const id of ids.filter((one) => !others.includes(one)))
    if ((await bucket.partsOf(key, id)) === 0) empty.push(id);
  const [only] = empty;
  if (only !== undefined && empty.length === 1) await bucket.abort(key, only);
}
