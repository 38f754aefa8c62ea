import { randomBytes } from "node:crypto";
import type { BytePath } from "../model/byte-path.ts";
import { OPEN, close, fchmod, openAt, statFd, unlinkAt } from "../platform/native/index.ts";
import { withRoot } from "./scan/open-directory.ts";

/**
 * A moment on the clock of a file system that lies strictly between everything that happened before the call and
 * everything after it: an entry whose ctime is not later was there before. Waits for the next tick of that clock,
 * a few milliseconds at most. `folder` is a private folder on the file system.
 */
export function takeBaseTime(folder: BytePath): bigint {
  return withRoot(folder, (fd) => {
    const name = `tick-${randomBytes(8).toString("hex")}`;
    const marker = openAt(fd, name, OPEN.writeOnly | OPEN.create | OPEN.exclusive, 0o600);
    try {
      const { ctimeNs } = statFd(marker);
      do fchmod(marker, 0o600);
      while (statFd(marker).ctimeNs <= ctimeNs);
      return ctimeNs;
    } finally {
      close(marker);
      unlinkAt(fd, name);
    }
  });
}
