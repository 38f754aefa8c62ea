import { readRecord, writeRecord } from "./record-file.ts";

const NAME = "shelved";

/** Notes durably that a stage holds somebody's only copy. */
export function markShelved(stageFd: number): void {
  writeRecord(stageFd, NAME, {}, "now");
}

/** Whether a stage holds somebody's only copy, so that it must stay until the whole sandbox goes. */
export function isMarkedShelved(stageFd: number): boolean {
  return readRecord(stageFd, NAME) !== null;
}
