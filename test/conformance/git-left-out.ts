/**
 * Checks of the kit that take for granted what git does not keep, by the reason; everything else is run. The same is
 * proven for git in its own terms by test/strategies/git_worktree.
 */
export const LEFT_OUT_FOR_GIT: Readonly<Record<string, readonly string[]>> = {
  "the edits begin with an empty folder, which no commit of git has": [
    "keeps edits by programs away from the resource (R12)",
    "tells every kind of edit that a program can make, sorted by path (R12)",
    "tells both sides of a change: type, size, mode and link text",
    "leaves the workspace alone (R8)",
    "tells exactly what it changed, added and deleted, and keeps the message (R9)",
    "makes the resource what the same programs make of a plain copy (R12)",
    "makes the resource what it was before the commit, times included (R10, R33)",
    "resets the workspace, so that the next commit publishes only new edits (R34)",
    "discards every edit and leaves the resource alone (R10)",
    "allows whole further cycles after discarded edits (R14)",
    "allows whole further cycles after an undone commit (R14)",
    "brings the exact state back: deletions, links, modes and empty folders (R198)",
    "restores the state before any edit, and the diff is empty then (R198)",
    "never touches the resource (R201)",
    "commits exactly the restored state (R209)",
    "begins with the exact present state: deletions, links, modes and empty folders",
    "stays whole when the one that it was made from is cleaned up",
    "leaves the one that it was made from whole when it is cleaned up",
    "frees everything of a sandbox that was worked in by programs, also when called twice (R11)",
    "prepares without touching the resource, then commits exactly the edits (R23)",
    "commits once, however often it is told to (R23)",
    "gives the edits back when it is abandoned, also twice (R23)",
    "has nothing to give back when it is abandoned before it was prepared (R23)",
    "takes an applied commit back exactly, also twice, and can commit again",
    "refuses at the fence what somebody changed after it was prepared",
    "removes from the resource what was removed in the sandbox (R12)",
    "publishes names with spaces, quotes, newlines and a leading dash",
  ],
  "folders are no entries of git, and modes have one bit": [
    "makes the folders that a written file needs (R6)",
    "keeps the mode of a file whose content is written",
    "lists the entries of a folder with their types",
    "removes a file, a link and a folder with what is in it (R12)",
    "renames files and folders, and never over something that is there (R12)",
    "publishes a changed file that may only be read, with its mode",
    "forgets a new outward link in a rollback (R230)",
    "reads, diffs and commits in a process that only got the ref (R3)",
    "publishes a new setuid bit only by permission (R231)",
    "refuses before anything moves when somebody changed the mode of a file that the sandbox edits (R43)",
  ],
  "a worktree has the link .git besides the files": [
    "gives programs a directory with everything in it and counts as active then (R13)",
  ],
  "a sandbox shows what is committed, not what is edited in the checkout, and never goes over such edits":
    [
      "shows the resource as it is by then, with what others changed meanwhile",
      "allows in status ACTIVE what the table allows (R16)",
      "commits after the sandbox was rolled back onto the other edits",
      "never goes through a link that leads out, whoever made it (R227)",
      "keeps an outward link of the resource as text and copies nothing behind it (R229)",
    ],
};
