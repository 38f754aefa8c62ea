import { setTimeout as wait } from "node:timers/promises";
import { OperationTimeoutError } from "../../errors/index.ts";
import { type BytePath, joinPath } from "../../model/byte-path.ts";
import { mountAt } from "../../platform/mount-table.ts";
import {
  AT,
  OPEN,
  close,
  openAt,
  readlinkAt,
  unmountInBackground,
} from "../../platform/native/index.ts";
import { run } from "../../platform/run.ts";

/** A look by another program, or a mount namespace that is being copied, keeps a mount busy for a moment. */
const PAUSES_MS = [20, 80, 300];

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
 * Takes the mount at a name below a folder away, never lazily; fine when nothing is mounted there. Another thread does
 * it, or a program where a file server may hang, so that neither that nor a slow disk holds this one up.
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
    if (entry.fsType === "overlay" && (await isTakenAway(`${cwd}/${name}`, timeoutMs))) return;
    for (const pauseMs of [...PAUSES_MS, null]) {
      const { exitCode, stderr } = await run(program, args, { cwd, timeoutMs });
      if (exitCode === 0 || mountAt(target)?.mountId !== entry.mountId) return;
      const detail = stderr.toString("utf8").trim();
      const isBusy = /busy/i.test(detail);
      if (!isBusy || pauseMs === null)
        throw new UnmountError(target, isBusy ? "EBUSY" : "EIO", detail);
      await wait(pauseMs);
    }
  } finally {
    close(dirFd);
  }
}

/** False where it cannot be done: the program then tells why. */
function isTakenAway(target: string, limitMs: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const tooLate = (): void => {
      const data = { limitMs, childEnded: false };
      reject(new OperationTimeoutError(`The mount did not go within ${limitMs} ms`, { data }));
    };
    const timer = setTimeout(tooLate, limitMs);
    void unmountInBackground(target)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer));
  });
}
