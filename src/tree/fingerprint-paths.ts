import { createHash } from "node:crypto";
import {
  type BytePath,
  type RelativePath,
  nameOf,
  parentOf,
  toBytePath,
} from "../model/byte-path.ts";
import type { Change } from "../model/change.ts";
import { throwUnlessErrno } from "../platform/native/index.ts";
import { hashAt } from "./content.ts";
import { findEntry } from "./read-entry.ts";
import { withFolder, withRoot } from "./scan/open-directory.ts";

/** One digest over what is at these paths: kinds, modes, owners, link texts and content, no times. Reads the content. */
export function fingerprintPaths(
  root: BytePath,
  changes: readonly Pick<Change, "path" | "pathBytes">[],
): string {
  const hash = createHash("sha256");
  withRoot(root, (rootFd) => {
    for (const change of changes) {
      const path = bytesOf(change);
      hash.update(`${JSON.stringify([path, stateAt(rootFd, path)])}\n`);
    }
  });
  return hash.digest("hex");
}

function bytesOf({ path, pathBytes }: Pick<Change, "path" | "pathBytes">): RelativePath {
  const input = pathBytes === undefined ? path : Buffer.from(pathBytes, "hex");
  return toBytePath(input) as RelativePath;
}

function stateAt(rootFd: number, path: RelativePath): unknown {
  try {
    return withFolder(rootFd, parentOf(path), (fd) => {
      const entry = findEntry(fd, nameOf(path));
      if (entry === null) return null;
      const { type, mode, uid, gid, target } = entry;
      return [type, mode, uid, gid, target, type === "file" ? hashAt(fd, nameOf(path)) : null];
    });
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP");
    return null;
  }
}
