import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { AT, OPEN, close, openAt, openBeneath } from "../../platform/native/index.ts";

const DIRECTORY = OPEN.readOnly | OPEN.directory | OPEN.noFollow;

/** Opens an absolute directory; a link in the last part is refused. The caller closes it. */
export function openRoot(path: BytePath): number {
  return openAt(AT.workingDirectory, path, DIRECTORY);
}

/** Opens a directory below a root; no link on the way is followed. The caller closes it. */
export function openFolder(rootFd: number, path: RelativePath): number {
  // Without O_NOFOLLOW, which would turn ELOOP for a link in the last part into a bare ENOTDIR.
  return openBeneath(rootFd, path, OPEN.readOnly | OPEN.directory);
}

/** Runs with an open directory and closes it afterwards, whatever happens. */
export function withFolder<T>(rootFd: number, path: RelativePath, work: (fd: number) => T): T {
  const fd = openFolder(rootFd, path);
  try {
    return work(fd);
  } finally {
    close(fd);
  }
}

/** Runs with an open root and closes it afterwards, whatever happens. */
export function withRoot<T>(path: BytePath, work: (fd: number) => T): T {
  const fd = openRoot(path);
  try {
    return work(fd);
  } finally {
    close(fd);
  }
}
