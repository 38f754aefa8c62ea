import { randomBytes } from "node:crypto";
import { toBytePath } from "../model/byte-path.ts";
import { AT, OPEN } from "../platform/native/constants.ts";
import { projectId } from "../platform/native/file-system.ts";
import { isErrno, throwUnlessErrno } from "../platform/native/native-error.ts";
import { close, openAt, renameAt } from "../platform/native/paths.ts";
import { statFd } from "../platform/native/stat.ts";

/**
 * Why nothing can be renamed from one folder into the other; null when it can. Both folders stay exactly as they are,
 * times included: the trial names something that does not exist.
 */
export function renameObstacle(from: string, into: string): string | null {
  const source = openFolder(from);
  try {
    const target = openFolder(into);
    try {
      return obstacleBetween(source, target);
    } finally {
      close(target);
    }
  } finally {
    close(source);
  }
}

function obstacleBetween(source: number, target: number): string | null {
  const [here, there] = [statFd(source), statFd(target)];
  // Subvolumes have device numbers of their own, bind mounts only mount numbers of their own.
  if (here.dev !== there.dev) return "another file system";
  if (here.mountId !== there.mountId) return "another mount";
  if (projectId(source) !== projectId(target)) return "another quota project";
  const name = `.cofferdam-${randomBytes(16).toString("hex")}`;
  try {
    renameAt(source, name, target, name);
    return "a rename of nothing succeeded";
  } catch (error) {
    if (isErrno(error, "ENOENT")) return null;
    throwUnlessErrno(error, "EXDEV", "EROFS", "EACCES", "EPERM");
    return error.code;
  }
}

function openFolder(path: string): number {
  return openAt(AT.workingDirectory, toBytePath(path), OPEN.readOnly | OPEN.directory);
}
