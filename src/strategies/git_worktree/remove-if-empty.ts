import { rmdirSync } from "node:fs";
import { throwUnlessErrno } from "../../platform/native/native-error.ts";

/** Removes a folder of git that nobody else has anything in. Idempotent. */
export function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    // Others have something there, or nobody ever had.
    throwUnlessErrno(error, "ENOTEMPTY", "EEXIST", "ENOENT");
  }
}
