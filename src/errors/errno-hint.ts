import { errnoOf } from "./sandbox-error.ts";

const FULL = "Make room on the disk of the sandbox and call again; the path is as it was.";
const FORBIDDEN = "Get the right to that path, or work as the user who has it, and call again.";

const HINTS: Readonly<Record<string, string>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EROFS: "Mount the file system of the sandbox for writing and call again.",
};

/** What to do about a system call that failed for one of the usual reasons; undefined for all others. */
export function errnoHint(thrown: unknown): string | undefined {
  return HINTS[errnoOf(thrown) ?? ""];
}
