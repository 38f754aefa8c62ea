/** For each area of the kit, each rule and the strategy that breaks it and no other of the area. */
export const DEFECT_OF_RULE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  contract: {
    "describes a new sandbox in plain JSON that names plan, resource and strategy":
      "WrongCreationTime",
    "makes a sandbox without touching the resource (R4)": "TouchesOnCreate",
    "refuses a resource that is not there and keeps nothing of it (R4)": "LeaksOnFailure",
  },
  isolation: {
    "keeps writes away from the resource (R6)": "WritesThrough",
    "keeps edits by programs away from the resource (R12)": "SharesFiles",
    "keeps the sandboxes of two plans apart": "MixesPlans",
    "writes into the resource itself and says so (R99)": "HidesIsolation",
    "gives the resource itself as the path (R99)": "GivesAnotherPath",
  },
  "read and write": {
    "reads the exact bytes of files that nobody changed (R5)": "ReadsText",
    "reads back the exact bytes that were written (R5)": "KeepsOldEnd",
    "reads what a program wrote (R5)": "ReadsStale",
    "answers a missing name, a folder and a FIFO with a typed error, without waiting (R5)":
      "ReadsFolders",
    "tells for a write what was there before and after (R6)": "TellsNoTime",
    "calls a write of the same bytes unchanged (R6)": "NeverUnchanged",
    "tells the same change in `write` and in the next diff (R7)": "WrongOldSizes",
    "makes the folders that a written file needs (R6)": "MissesInnerFolders",
    "keeps the mode of a file whose content is written": "DropsModes",
    "refuses to write a file in the place of a folder or below a file (R6)": "WritesOverFolders",
  },
  "path calls": {
    "gives programs a directory with everything in it and counts as active then (R13)":
      "LittersWorkspace",
    "gives a path again after a rollback and counts as active then (R13)": "RollbackKeepsOneEdit",
    "gives the path of one entry inside the directory (R13)": "WrongInnerPath",
    "lists the entries of a folder with their types": "ListsFilesOnly",
    "removes a file, a link and a folder with what is in it (R12)": "RemovesNoFolders",
    "renames files and folders, and never over something that is there (R12)": "RenamesOver",
  },
  diff: {
    "is empty for a sandbox that nobody touched (R8)": "DistrustsReadOnly",
    "is empty for a sandbox whose directory was only looked at (R8)": "DistrustsReaders",
    "tells every kind of edit that a program can make, sorted by path (R12)": "Unsorted",
    "tells both sides of a change: type, size, mode and link text": "WrongSizes",
    "changes nothing and says the same when asked again (R8)": "NeverTheSame",
    "leaves the workspace alone (R8)": "DiffTouches",
    "forgets a change that was taken back by hand": "NeverForgets",
    "has a digest that stands for exactly these changes": "OneDigest",
    "shows the lines that differ as text": "NoText",
  },
  commit: {
    "tells exactly what it changed, added and deleted, and keeps the message (R9)": "LosesMessages",
    "makes the resource what the same programs make of a plain copy (R12)": "LosesTimes",
    "removes from the resource what was removed in the sandbox (R12)": "LosesDeletions",
    "publishes what `write` wrote, with the mode that the file had": "LosesModes",
    "leaves entries alone that did not change, and keeps every folder that is there (R38)":
      "TouchesOthers",
    "does nothing for a sandbox without changes, and says so": "TouchesForNothing",
    "refuses when the sandbox changed after it was reviewed": "IgnoresReview",
    "freezes the sandbox: no write, no path, no restore (R15)": "ShowsThePast",
    "publishes a changed file that may only be read, with its mode": "PublishesWritable",
    "publishes names with spaces, quotes, newlines and a leading dash": "LosesOddNames",
  },
  undo: {
    "makes the resource what it was before the commit, times included (R10, R33)":
      "RestoresWrongTimes",
    "removes files and folders that the commit had added": "LeavesAddedFolders",
    "resets the workspace, so that the next commit publishes only new edits (R34)":
      "RollbackKeepsEdits",
    "leaves entries alone that the commit did not touch (R38)": "UndoTouchesOthers",
    "refuses when somebody changed a committed file since, and names it (R42)":
      "SwallowsForeignEdits",
    "keeps edits that others made elsewhere since the commit": "RemovesOthersFiles",
    "has nothing to do after a commit without changes": "TouchesForNothing",
    "keeps the edits when only the commit is taken back, for another attempt": "UndoDiscards",
  },
  "rollback and cycles": {
    "discards every edit and leaves the resource alone (R10)": "RollbackTouches",
    "discards what `write` wrote (R10)": "RollbackKeepsOneEdit",
    "is possible before any edit (R10)": "RefusesEarlyRollback",
    "shows the resource as it is by then, with what others changed meanwhile":
      "RollbackShowsThePast",
    "is refused where edits took effect at once, in every status (R100)": "PretendsRollback",
    "allows whole further cycles after discarded edits (R14)": "DiscardsOnlyOnce",
    "allows whole further cycles after an undone commit (R14)": "UndoesOnlyThrice",
  },
  status: {
    "allows in status CREATED what the table allows (R16)": "RemovesOnlyAfterWrites",
    "allows in status ACTIVE what the table allows (R16)": "RenamesOnlyWhenClean",
    "allows in status COMMITTED what the table allows (R16)": "NoDiffOnceCommitted",
    "allows in status ROLLED_BACK what the table allows (R16)": "NoListOnceRolledBack",
  },
  checkpoints: {
    "brings the exact state back: deletions, links, modes and empty folders (R198)":
      "RestoresClosed",
    "keeps a state apart from what is written into the same files later (R198)":
      "SharesCheckpoints",
    "restores several states in any order and loses none (R199)": "ForgetsNewerCheckpoints",
    "restores the state before any edit, and the diff is empty then (R198)": "RestoresTooMuch",
    "never touches the resource (R201)": "CheckpointTouches",
    "commits exactly the restored state (R209)": "CommitsTooMuch",
    "can still be restored after the commit was taken back": "RollbackDropsCheckpoints",
    "are possible before any edit and after a rollback; a restore makes it active (R206)":
      "RestoresNothingLater",
  },
  forks: {
    "begins with the exact present state: deletions, links, modes and empty folders": "ForksClosed",
    "begins with the state of a checkpoint, whatever was edited since": "ForksThePresent",
    "goes its own way: no edit in one reaches the other": "SharesForks",
    "finds what others changed since the first sandbox was made": "ForksAnew",
    "makes the other one's edits of the same file a conflict when it commits, both ways":
      "ForksOverlook",
    "commits beside the other one's edits of other files": "ForksAddNothing",
    "stays whole when the one that it was made from is cleaned up": "CleanupEndsForks",
    "leaves the one that it was made from whole when it is cleaned up": "CleanupEndsOrigins",
    "leaves nothing when both are cleaned up, and never touches the resource": "LeaksForks",
  },
  "paths and links": {
    "never goes through a link that leads out, whoever made it (R227)": "ReadsThroughLinks",
    "neither reads nor replaces what a link to a file outside points to (R227)":
      "WritesThroughLinks",
    "keeps an outward link of the resource as text and copies nothing behind it (R229)":
      "CopiesBehindLinks",
    "shows a new outward link and publishes it only by permission (R230)": "PublishesOutwardLinks",
    "forgets a new outward link in a rollback (R230)": "RollbackKeepsLinks",
    "publishes a new setuid bit only by permission (R231)": "PublishesSpecialBits",
    "carries no special bits into copies and keeps those of the resource (R231)":
      "KeepsSpecialBits",
  },
  conflicts: {
    "refuses before anything moves when somebody edited a file that the sandbox edits (R43)":
      "OverlooksEdits",
    "refuses before anything moves when somebody edited a file that the sandbox deletes (R43)":
      "OverlooksEditsOfDeleted",
    "refuses before anything moves when somebody deleted a file that the sandbox edits (R43)":
      "OverlooksDeletions",
    "refuses before anything moves when somebody moved the folder around a file that the sandbox edits (R43)":
      "OverlooksMovedFolders",
    "refuses before anything moves when somebody made a file that the sandbox makes too (R43)":
      "OverlooksAdditions",
    "refuses before anything moves when somebody changed the mode of a file that the sandbox edits (R43)":
      "OverlooksModes",
    "refuses before anything moves when somebody retargeted a link that the sandbox retargets (R43)":
      "OverlooksLinks",
    "commits beside edits that others made elsewhere, which survive (R43)": "FearsEverybody",
    "commits after the sandbox was rolled back onto the other edits": "ConflictsForever",
  },
  cleanup: {
    "frees everything of a sandbox that was only made, also when called twice (R11)": "LeaksUnused",
    "frees everything of a sandbox that was written to, also when called twice (R11)":
      "LeaksWritten",
    "frees everything of a sandbox that was worked in by programs, also when called twice (R11)":
      "LeaksWorkedIn",
    "frees everything of a sandbox that has checkpoints, also when called twice (R11)": "LeaksKept",
    "frees everything of a sandbox that was committed, also when called twice (R11)":
      "LeaksCommitted",
    "frees everything of a sandbox that was rolled back, also when called twice (R11)":
      "LeaksRolledBack",
    "frees everything of a sandbox that was committed and undone, also when called twice (R11)":
      "LeaksUndone",
  },
  "another process": {
    "reads, diffs and commits in a process that only got the ref (R3)": "KeepsWritesInMemory",
    "takes a commit back in a process that only got the ref (R3)": "UndoesFromMemory",
    "restores a checkpoint in a process that only got the ref (R204)": "RestoresFromMemory",
    "rolls back and cleans up in a process that only got the ref (R3)": "RollsBackFromMemory",
  },
  "two-phase commit": {
    "prepares without touching the resource, then commits exactly the edits (R23)": "FenceTouches",
    "commits once, however often it is told to (R23)": "AppliesTwice",
    "gives the edits back when it is abandoned, also twice (R23)": "AbandonDiscards",
    "has nothing to give back when it is abandoned before it was prepared (R23)":
      "AbandonNeedsPrepare",
    "takes an applied commit back exactly, also twice, and can commit again": "ReversesInPart",
    "refuses at the fence what somebody changed after it was prepared": "NoFence",
    "says when there is nothing to be done": "NeverNothing",
  },
};

const REFUSED_BY_ENGINE = "the engine refuses before it calls the strategy";

/** Rules that no strategy can break once it is loaded, and why. */
export const KEPT_BY_ENGINE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  contract: {
    "has the nine methods and every method that its capabilities promise (R1, R18)":
      "the registry does not load a strategy without them",
  },
  undo: {
    "is refused by a strategy that cannot do it; the commit stays (R10)": REFUSED_BY_ENGINE,
  },
  status: {
    "refuses in status CREATED what the table does not allow, without any effect (R16)":
      REFUSED_BY_ENGINE,
    "refuses in status ACTIVE what the table does not allow, without any effect (R16)":
      REFUSED_BY_ENGINE,
    "refuses in status COMMITTED what the table does not allow, without any effect (R16)":
      REFUSED_BY_ENGINE,
    "refuses in status ROLLED_BACK what the table does not allow, without any effect (R16)":
      REFUSED_BY_ENGINE,
    "refuses everything but a further cleanup once it is cleaned up (R16)": REFUSED_BY_ENGINE,
    "refuses a ref that was never given out, rollback included (R16)": REFUSED_BY_ENGINE,
  },
  checkpoints: {
    "refuses unknown, duplicate and malformed ids (R200)": REFUSED_BY_ENGINE,
    "are refused as unsupported by a strategy that keeps none (R203)": REFUSED_BY_ENGINE,
  },
  forks: {
    "is refused as unsupported by a strategy that cannot": REFUSED_BY_ENGINE,
  },
  "paths and links": {
    "refuses absolute paths, ways up and zero bytes in every call (R227)": REFUSED_BY_ENGINE,
  },
};
