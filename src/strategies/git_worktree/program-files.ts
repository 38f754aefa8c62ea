import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";

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

/** The ids of the commits that such a file names. Whatever else is in it could be an option to git. */
export function commitsNamedIn(file: string): string[] {
  const lines = programText(file)?.split("\n") ?? [];
  return lines.filter((line) => ID.test(line));
}
