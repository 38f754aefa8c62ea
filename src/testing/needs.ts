import type { DeclaredCapabilities } from "../index.ts";

/** A capability that a check is about. */
export interface Need {
  /** Completes "the strategy …" when the need is not met. */
  readonly otherwise: string;
  isMet(capabilities: DeclaredCapabilities): boolean;
}

const need = (otherwise: string, isMet: Need["isMet"]): Need => ({ otherwise, isMet });

/** Edits stay in the sandbox until they are committed. */
export const ISOLATED = need("has no isolation", ({ isolation }) => isolation === "full");
/** Edits take effect at once. */
export const IN_PLACE = need("isolates", ({ isolation }) => isolation === "none");
/** Programs can work in a directory. */
export const WITH_PATH = need("gives no path", ({ path }) => path);
/** There are calls for listing, removing and renaming. */
export const WITH_PATH_CALLS = need("has no path calls", ({ pathCalls }) => pathCalls);
/** Commits can be taken back. */
export const UNDOABLE = need("cannot undo a commit", ({ undoCommit }) => undoCommit);
/** Commits cannot be taken back. */
export const NOT_UNDOABLE = need("can undo a commit", ({ undoCommit }) => !undoCommit);
/** States can be kept and brought back. */
export const WITH_CHECKPOINTS = need(
  "keeps no checkpoints",
  ({ checkpoints }) => checkpoints !== "none",
);
/** States cannot be kept. */
export const NO_CHECKPOINTS = need(
  "keeps checkpoints",
  ({ checkpoints }) => checkpoints === "none",
);
/** A second sandbox can begin with what the first one holds. */
export const WITH_FORKS = need(
  "cannot fork",
  ({ forks, checkpoints }) => forks && checkpoints !== "none",
);
/** No sandbox can begin with what another one holds. */
export const NO_FORKS = need("can fork", ({ forks }) => !forks);
/** Folders, links, modes and owners are part of the resource. */
export const WITH_TREE = need("knows files alone", ({ entries }) => entries === "tree");
/** Commits have two phases. */
export const TWO_PHASE = need("cannot prepare", ({ prepare }) => prepare);
/** Commands work on a private copy. */
export const WITH_COPIES = need("lends no copies", ({ copies }) => copies);
