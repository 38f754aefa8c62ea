import { openSync, readFileSync, readSync, closeSync, existsSync, constants } from "node:fs";
import { DatabaseInUseError } from "../../errors/index.ts";
import { displayPath } from "../../model/byte-path.ts";
import type { TreeChange } from "../tree-change.ts";
import type { SandboxPlace } from "../workspace.ts";

const HEADER = Buffer.from("SQLite format 3\0", "latin1");
const SMALLEST_PAGE = 512;
const SUFFIXES = ["-wal", "-journal"];

/**
 * Refuses to publish over a database file that somebody has open: a file renamed over a live database loses commits.
 * @throws DatabaseInUseError (`DATABASE_IN_USE`) naming the file; nothing was touched.
 */
export function checkDatabases(place: SandboxPlace, changes: readonly TreeChange[]): void {
  let locked: Set<string> | undefined;
  for (const { path, before } of changes) {
    // Databases are made of whole pages: no other file needs to be opened.
    if (before?.type !== "file" || before.size === 0 || before.size % SMALLEST_PAGE !== 0) continue;
    const real = Buffer.from(`${place.root}/${path}`, "latin1");
    if (!isDatabase(real)) continue;
    locked ??= lockedInodes();
    const companions = SUFFIXES.map((suffix) => Buffer.concat([real, Buffer.from(suffix)]));
    if (companions.some((file) => existsSync(file)) || locked.has(before.ino.toString())) {
      const name = displayPath(path);
      throw new DatabaseInUseError(`${name} is a database that is in use; nothing was published`, {
        operation: "commit",
        hint: `Close the programs that use it, or declare it as a resource of its own: -r sqlite:${name}`,
        data: { path: name },
      });
    }
  }
}

function isDatabase(file: Buffer): boolean {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const head = Buffer.alloc(HEADER.length);
    return readSync(fd, head, 0, head.length, 0) === head.length && head.equals(HEADER);
  } finally {
    closeSync(fd);
  }
}

/** Inodes on which any process of this machine holds a POSIX lock. */
function lockedInodes(): Set<string> {
  const inodes = new Set<string>();
  for (const line of readFileSync("/proc/locks", "latin1").split("\n")) {
    const inode = /:(\d+) \d+ (?:\d+|EOF)$/.exec(line)?.[1];
    if (inode !== undefined && line.includes("POSIX")) inodes.add(inode);
  }
  return inodes;
}
