import { type BytePath, joinPath } from "../../model/byte-path.ts";
import { mountAt } from "../../platform/mount-table.ts";
import { AT, OPEN, close, openAt, readlinkAt } from "../../platform/native/index.ts";
import { run } from "../../platform/run.ts";

/** The path of a folder as the mount table would list it, whatever links lead there. */
export function canonicalPath(directory: BytePath): BytePath {
  const fd = openAt(AT.workingDirectory, directory, OPEN.pathOnly | OPEN.directory);
  try {
    return readlinkAt(AT.workingDirectory, `/proc/self/fd/${fd}`) as BytePath;
  } finally {
    close(fd);
  }
}

/** A mount that could not be taken away. */
export class UnmountError extends Error {
  override readonly name = "UnmountError";
  /** `EBUSY` when somebody uses it. */
  readonly code: string;
  readonly mountPoint: BytePath;

  constructor(mountPoint: BytePath, code: string, detail: string) {
    super(detail);
    this.code = code;
    this.mountPoint = mountPoint;
  }
}

/**
 * Takes the mount at a name below a folder away, never lazily; fine when nothing is mounted there. A program does it,
 * so that neither a hanging file server nor a slow disk holds this process up.
 * @throws UnmountError, or OperationTimeoutError (`OPERATION_TIMEOUT`).
 */
export async function unmountAt(
  directory: BytePath,
  name: string,
  timeoutMs: number,
): Promise<void> {
  const target = joinPath(canonicalPath(directory), name);
  const entry = mountAt(target);
  if (entry === undefined) return;
  // Only the set-user-id program may take away what it mounted for an ordinary user.
  const isFuse = entry.fsType.startsWith("fuse") && process.geteuid?.() !== 0;
  const [program, args] = isFuse
    ? (["fusermount3", ["-u", "--", name]] as const)
    : (["umount", ["-i", "--", name]] as const);
  const dirFd = openAt(AT.workingDirectory, directory, OPEN.readOnly | OPEN.directory);
  try {
    const cwd = `/proc/self/fd/${dirFd}`;
    const { exitCode, stderr } = await run(program, args, { cwd, timeoutMs });
    if (exitCode === 0 || mountAt(target)?.mountId !== entry.mountId) return;
    const detail = stderr.toString("utf8").trim();
    throw new UnmountError(target, /busy/i.test(detail) ? "EBUSY" : "EIO", detail);
  } finally {
    close(dirFd);
  }
}
