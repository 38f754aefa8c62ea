import type { DirectoryScanner, StatBuffer } from "../../platform/native/index.ts";
import { lookAt } from "../publish/entry-record.ts";

/** What a folder is read with. */
export interface FolderReading {
  readonly scanner: DirectoryScanner;
  /** Has the entry of a name while it is visited. */
  readonly stat: StatBuffer;
}

/** Visits those of the names that are there in an open folder; null means all that it has. */
export function visitNames(
  { scanner, stat }: FolderReading,
  fd: number,
  names: ReadonlySet<string> | null,
  visit: (name: string) => void,
): void {
  if (names === null) {
    scanner.open(fd);
    while (scanner.next()) if (scanner.stat(stat)) visit(scanner.name);
  } else {
    for (const name of names) if (lookAt(stat, fd, name)) visit(name);
  }
}
