import { closeSync, constants, copyFileSync, openSync, rmSync, statSync } from "node:fs";
import { futimens } from "../../platform/native/index.ts";

/**
 * Copies an index with its time: git takes files that were written after the index for unknown, and with a later time it
 * would miss an edit that was made in the same second.
 */
export function copyIndex(from: string, to: string): void {
  // The lock is that of a git that we started and that was killed.
  for (const name of [to, `${to}.lock`]) rmSync(name, { force: true });
  const { mtimeNs } = statSync(from, { bigint: true });
  copyFileSync(from, to);
  const fd = openSync(to, constants.O_WRONLY | constants.O_NOFOLLOW);
  try {
    futimens(fd, null, mtimeNs);
  } finally {
    closeSync(fd);
  }
}
