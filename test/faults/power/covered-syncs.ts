const EITHER_RECORD =
  "Recovery goes by the records of the transaction, and settles a sandbox from its older record as well.";
const SAME_RENAME =
  "The same rename also changes a folder of the stage, which is synced after it; the log of a file system holds both.";
const LATER =
  "These file systems write their logs in order, and a later sync on the same disk comes before anything depends on it.";

/**
 * Syncs of a kind whose absence no test notices on ext4, xfs and btrfs, and why. They stay: other file systems need not
 * be as kind, and POSIX promises no name without a sync of its folder.
 */
export const COVERED_KINDS: Readonly<Record<string, string>> = {
  "syncs of the folders of sandbox records": EITHER_RECORD,
  "syncs of real folders": SAME_RENAME,
};

/** Kinds that are covered in one operation only. */
export const COVERED_IN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "an undo": {
    "syncs of a whole file system":
      "What goes back was synced by the commit. Only names move, and the folder of the sandbox, on the same disk, is synced after them.",
  },
};

/**
 * Kinds of syncs, and single ones, whose absence was noticed in a whole run: a sample tries one of these. Whether every
 * other one is noticed or covered is what the whole run finds out.
 */
export const KNOWN_TO_MATTER: Readonly<Record<string, readonly string[]>> = {
  "a commit of fresh edits": [
    "syncs of sandbox records",
    "syncs of transaction records",
    "syncs of the folders of transactions",
    "syncs of a whole file system",
    "syncs of records in the stage",
    "syncs of stage folders",
    "fsync /state/plans/plan-ID/sandboxes/.ID.tmp",
    "fsync /state/tx/ID/.ID.tmp",
  ],
  "an undo": [
    "syncs of sandbox records",
    "syncs of transaction records",
    "syncs of the folders of transactions",
    "syncs of records in the stage",
    "syncs of stage folders",
    "fsync /state/plans/plan-ID/sandboxes/.ID.tmp",
  ],
};

/** Single syncs that need not be noticed, by their kind or name, although all of their kind together are. */
export const COVERED_ALONE: Readonly<Record<string, string>> = {
  ...COVERED_KINDS,
  "syncs of the folders of transactions": LATER,
  "syncs of stage folders": LATER,
  "fsync /state/tx/.new-ID/.ID.tmp":
    "One of two records has this name: that of the owner, which is for messages only. The other one is noticed.",
};
