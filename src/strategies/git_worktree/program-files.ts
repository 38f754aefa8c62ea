import { closeSync, constants, fstatSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { throwUnlessErrno } from "../../platform/native/native-error.ts";

const ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * The text of a file in the git directory of a worktree, where programs of the sandbox write too; null where there is no
 * plain file. Nothing else is waited for, and no link followed.
 */
export function programText(file: string): string | null {
  let fd: number | undefined;
  try {
    fd = openSync(file, FLAGS);
    return fstatSync(fd).isFile() ? readFileSync(fd, "latin1") : null;
  } catch {
    return null;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The content of a file that a program may have replaced; null where there is no file. Links are followed, pipes not read. */
export function plainContent(file: string): Buffer | null {
  let fd: number | undefined;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    return fstatSync(fd).isFile() ? readFileSync(fd) : null;
  } catch (error) {
    throwUnlessErrno(error, "ENOENT");
    return null;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Adds to a file; not through a link, and where there is no plain file not at all. */
export function appendToPlain(file: string, content: Uint8Array): void {
  let fd: number | undefined;
  try {
    fd = openSync(
      file,
      constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    if (fstatSync(fd).isFile()) writeFileSync(fd, content);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** The ids of the commits that such a file names. Whatever else is in it could be an option to git. */
export function commitsNamedIn(file: string): string[] {
  const lines = programText(file)?.split("\n") ?? [];
  return lines.filter((line) => ID.test(line));
}
