const LATER =
  "The file system writes its log in order, and a later sync on the same disk comes before anything depends on this one.";
const SAME_RENAME =
  "The same rename also changes a folder of the stage, which is synced after it; the log of a file system holds both.";
const EITHER_RECORD =
  "Recovery goes by the records of the transaction, and settles a sandbox from its older record as well.";

/**
 * Syncs whose absence no test notices on ext4, xfs and btrfs, one by one or by their kind, and why. They stay: other
 * file systems need not be as kind, and POSIX promises no name without a sync of its folder.
 */
export const COVERED_SYNCS: Readonly<Record<string, string>> = {
  "syncs of the folders of sandbox records": EITHER_RECORD,
  "syncs of real folders": SAME_RENAME,
  "fsync /state/tx/.new-ID/.ID.tmp":
    "One of two records has this name: that of the owner, which is for messages only. The other one is noticed.",
  "fsync /state/tx/.new-ID": LATER,
  "fsync /state/tx": LATER,
  "fsync /state/tx/ID":
    "That of the intent is covered by the sync of the decision, which has the same name and is noticed.",
};
