import { chmodSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { dirname } from "node:path";
import { throwUnlessErrno } from "../platform/native/native-error.ts";
import { syncFolder } from "./durable-file.ts";

/** Why a folder cannot be used for private data. */
export type PrivacyProblem =
  | "symbolic link"
  | "not a folder"
  | "owned by another user"
  | "writable by others"
  | "readable by others";

/**
 * Makes a folder of mode 0700 that belongs to this user, or takes one that exists, and tells what is wrong with it:
 * null means private and ours. A planted folder or link is never used, changed or followed.
 */
export async function claimPrivateFolder(path: string): Promise<PrivacyProblem | null> {
  try {
    mkdirSync(path, { mode: 0o700 });
    await syncFolder(dirname(path));
  } catch (error) {
    throwUnlessErrno(error, "EEXIST");
  }
  return privacyProblem(path);
}

/** What is wrong with an existing folder; an empty folder of ours that others may read is closed to them. */
function privacyProblem(path: string): PrivacyProblem | null {
  const found = lstatSync(path);
  if (found.isSymbolicLink()) return "symbolic link";
  if (!found.isDirectory()) return "not a folder";
  if (found.uid !== process.geteuid?.()) return "owned by another user";
  if ((found.mode & 0o022) !== 0) return "writable by others";
  if ((found.mode & 0o077) === 0) return null;
  if (readdirSync(path).length > 0) return "readable by others";
  chmodSync(path, 0o700);
  return null;
}
