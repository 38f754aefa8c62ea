import { createHash } from "node:crypto";

const SAFE = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const LONGEST_PREFIX = 40;

/**
 * A file name for any id: a readable beginning in harmless characters and a hash of the whole id. Different ids have
 * different names, also on file systems that ignore case, and none can be an option, a path or a hidden file.
 */
export function idKey(id: string): string {
  const prefix = id
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST_PREFIX)
    .replaceAll(/^-+|-+$/g, "");
  const hash = createHash("sha256").update(id, "utf8").digest("hex").slice(0, 32);
  return prefix === "" ? hash : `${prefix}-${hash}`;
}

/** The id itself where it is a harmless name, as those that we make are; else its key. */
export function fileNameOf(id: string): string {
  return SAFE.test(id) ? id : idKey(id);
}
