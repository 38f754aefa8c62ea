import type { LinkedWorktree } from "./worktree.ts";

/** A sandbox as a command sees it: at the real path of its resource. */
export type ShownSandbox = ShownFolder | ShownLayers | ShownCopy;

/** A sandbox whose workspace is a directory, or file, that lies somewhere. */
export interface ShownFolder {
  readonly location: string;
  readonly workspace: string;
  /** For a linked worktree: which of its repository's worktrees it is. */
  readonly worktree?: LinkedWorktree;
}

/** A sandbox that the command's own namespace mounts, which needs no privilege. */
export interface ShownLayers {
  readonly location: string;
  /** The names in `options` are relative to this folder. */
  readonly folder: string;
  readonly options: string;
}

/**
 * A sandbox of one file, for programs that put further files beside it, as SQLite does. A link at its place leads to a
 * private copy in a folder of its own: such programs resolve links first, so that these files come to lie there, and
 * never beside the real file, nor in the sandbox of the folder around it.
 */
export interface ShownCopy {
  readonly location: string;
  readonly copy: string;
}

/** Whether one of the sandboxes is shown around a path, or at it. */
export function isHiddenBy(sandboxes: readonly ShownSandbox[], path: string): boolean {
  return sandboxes.some(({ location }) => path === location || path.startsWith(`${location}/`));
}
