import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Site } from "./site.ts";

/** What says, in the git directory of a worktree, that git is in the middle of something besides a merge. */
const STATES = [
  "AUTO_MERGE",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "REBASE_HEAD",
  "SQUASH_MSG",
  "rebase-merge",
  "rebase-apply",
  "sequencer",
  "BISECT_START",
  "BISECT_LOG",
  "BISECT_NAMES",
  "BISECT_TERMS",
  "BISECT_EXPECTED_REV",
  "BISECT_ANCESTORS_OK",
  "BISECT_FIRST_PARENT",
  "BISECT_HEAD",
  "refs/bisect",
  "refs/rewritten",
];

/**
 * Ends what a program has begun in the worktree with rebase, cherry-pick, revert, am or bisect: whoever continued it, or
 * gave it up, would lose what the worktree has now. Idempotent.
 */
export async function forgetOperations({ admin }: Site): Promise<void> {
  for (const state of STATES) {
    const path = `${admin}/${state}`;
    if (existsSync(path)) await rm(path, { recursive: true, force: true });
  }
}
