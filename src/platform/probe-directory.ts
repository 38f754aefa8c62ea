import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { type BytePath, joinPath, pathBytes } from "../model/byte-path.ts";
import { createIdSource } from "./ids.ts";
import { AT, OPEN, UNMOUNT, close, openAt, throwUnlessErrno, unmount } from "./native/index.ts";
import { mountsBelow } from "./mount-table.ts";
import { run } from "./run.ts";

/** A private folder for one trial, with the four folders of an overlay and a file in the lower one. */
export interface TrialDirectory extends AsyncDisposable {
  readonly path: BytePath;
  readonly fd: number;
  /** A name of the folder that any program of ours can use as working directory, whatever its bytes. */
  readonly workingDirectory: string;
}

/** Makes a trial folder inside a directory; disposing of it takes mounts and files away. */
export async function trialDirectory(parent: BytePath): Promise<TrialDirectory> {
  const path = joinPath(parent, `.cofferdam-probe-${createIdSource().next()}`);
  await mkdir(pathBytes(path), { mode: 0o700 });
  try {
    return await furnish(path);
  } catch (error) {
    await removeAll(path);
    throw error;
  }
}

async function furnish(path: BytePath): Promise<TrialDirectory> {
  for (const name of ["lower", "upper", "work", "merged"])
    await mkdir(pathBytes(joinPath(path, name)));
  await writeFile(pathBytes(joinPath(path, "lower/file")), "base");
  const fd = openAt(AT.workingDirectory, path, OPEN.readOnly | OPEN.directory);
  const workingDirectory = `/proc/self/fd/${fd}`;
  return {
    path,
    fd,
    workingDirectory,
    async [Symbol.asyncDispose]() {
      await unmountAll(path, workingDirectory);
      close(fd);
      await removeAll(path);
    },
  };
}

async function removeAll(path: BytePath): Promise<void> {
  // The kernel makes this folder with no permissions at all, which stops everybody but root.
  await chmod(pathBytes(joinPath(path, "work/work")), 0o700).catch(() => undefined);
  await rm(pathBytes(path), { recursive: true, force: true });
}

async function unmountAll(path: BytePath, cwd: string): Promise<void> {
  for (const { mountPoint } of mountsBelow(path)) {
    try {
      unmount(mountPoint, UNMOUNT.detach);
    } catch (error) {
      throwUnlessErrno(error, "EPERM");
      // Only the set-user-id program may take away what it mounted for an ordinary user.
      await run("fusermount3", ["-u", "-z", "merged"], { cwd, timeoutMs: 5_000 });
    }
  }
}
