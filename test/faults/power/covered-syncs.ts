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

/** Single syncs that need not be noticed, by their kind or name, although all of their kind together are. */
export const COVERED_ALONE: Readonly<Record<string, string>> = {
  ...COVERED_KINDS,
  "syncs of the folders of transactions": LATER,
  "syncs of stage folders": LATER,
  "fsync /state/tx/.new-ID/.ID.tmp":
    "One of two records has this name: that of the owner, which is for messages only. The other one is noticed.",
};
