import { type BytePath, displayPath, isTextPath } from "../../model/byte-path.ts";
import { AT, OPEN, close, openAt } from "../../platform/native/index.ts";

/** Runs with a name for a folder that Node can use, whatever its bytes. */
export async function withTextPath<T>(
  directory: BytePath,
  work: (path: string) => Promise<T>,
): Promise<T> {
  if (isTextPath(directory)) return work(displayPath(directory));
  const fd = openAt(AT.workingDirectory, directory, OPEN.readOnly | OPEN.directory);
  try {
    return await work(`/proc/self/fd/${fd}`);
  } finally {
    close(fd);
  }
}
