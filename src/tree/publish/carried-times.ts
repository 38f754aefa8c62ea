import type { CarriedTime } from "./custody.ts";
import { readRecord, writeRecord } from "./record-file.ts";
import type { RecordedEntry } from "./step.ts";

const NAME = "carried";

type PackedTime = readonly [ino: string, from: string, to: string];

/**
 * Change times that published or kept files of a stage were given by later commits which were taken back again.
 * @throws RecordDamagedError when they cannot be trusted.
 */
export function readTimes(stageFd: number): CarriedTime[] {
  const packed = (readRecord(stageFd, NAME) ?? []) as readonly PackedTime[];
  return packed.map(([ino, from, to]) => ({
    ino: BigInt(ino),
    from: BigInt(from),
    to: BigInt(to),
  }));
}

/** Adds to them, durably; `added` continues what is known. */
export function writeTimes(stageFd: number, added: readonly CarriedTime[]): void {
  const next = new Map(added.map((time) => [`${time.ino}:${time.from}`, time]));
  const times = readTimes(stageFd).map((time) => {
    const key = `${time.ino}:${time.to}`;
    const { to } = next.get(key) ?? time;
    next.delete(key);
    return { ...time, to };
  });
  const packed = [...times, ...next.values()].map(({ ino, from, to }): PackedTime => [
    ino.toString(),
    from.toString(),
    to.toString(),
  ]);
  writeRecord(stageFd, NAME, packed, "now");
}

/** Recorded entries with the change times that they have by now. */
export function withTimes(
  entries: readonly RecordedEntry[],
  times: readonly CarriedTime[],
): readonly RecordedEntry[] {
  if (times.length === 0) return entries;
  const known = new Map(times.map(({ ino, from, to }) => [`${ino}:${from}`, to]));
  return entries.map(([path, record]): RecordedEntry => {
    if (record.type === "directory") return [path, record];
    const ctimeNs = known.get(`${record.ino}:${record.ctimeNs}`) ?? record.ctimeNs;
    return [path, { ...record, ctimeNs }];
  });
}
