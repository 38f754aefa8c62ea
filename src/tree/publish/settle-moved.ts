import {
  type StatBuffer,
  chmodAt,
  throwUnlessErrno,
  utimensAt,
} from "../../platform/native/index.ts";
import type { EntryRecord } from "./entry-record.ts";
import type { Place } from "./move-entry.ts";

const OWNER_WRITE = 0o200;

/**
 * Puts right what moving a directory did to it: some file systems give it a new time, and a crash may leave it open
 * for its owner (see `moveEntry`). `stat` is what was just looked at there, and is up to date afterwards.
 */
export function settleMoved(
  stat: StatBuffer,
  { fd, name }: Place,
  record: EntryRecord | null,
): void {
  if (record?.type !== "directory" || stat.ino !== record.ino) return;
  const isOpen =
    stat.permissions !== record.mode && stat.permissions === (record.mode | OWNER_WRITE);
  const isYounger = stat.mtimeNs !== record.mtimeNs;
  if (isOpen) chmodAt(fd, name, record.mode);
  if (isYounger) setTime(fd, name, record.mtimeNs);
  if (isOpen || isYounger) stat.readAt(fd, name);
}

/** Only the owner may set times; whoever may rename but not that has to live with the new one. */
function setTime(fd: number, name: string, mtimeNs: bigint): void {
  try {
    utimensAt(fd, name, null, mtimeNs);
  } catch (error) {
    throwUnlessErrno(error, "EPERM");
  }
}
