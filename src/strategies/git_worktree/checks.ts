import { type RelativePath, displayPath } from "../../model/byte-path.ts";
import { runTask } from "../../tree/threads/pool.ts";
import { operationInProgress, overlapping, replayInside, stagedPaths } from "./checkout-state.ts";
import type { GitRecord } from "./commit-record.ts";
import { conflictError, refuseCommit } from "./failures.ts";
import { type RawChange, splitZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import {
  BRANCHES,
  type Head,
  inRepository,
  isOwnEntry,
  readHead,
  readRef,
  typedName,
} from "./repository.ts";
import type { Site } from "./site.ts";

/**
 * The commit that the branch of the sandbox is at, when the checkout is in a state in which it may be moved.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`) with the reason.
 */
export async function requireTip(git: Git, site: Site, ref: string | null): Promise<string> {
  const head = await readHead(git, site.repository);
  // First: in the middle of some of them nothing but a commit is checked out.
  const operation = operationInProgress(site);
  if (operation !== null) {
    throw refuseCommit("operationInProgress", `A git ${operation} is in progress in the checkout`, {
      hint: `Finish it, or give it up with \`git ${operation} --abort\`, then commit again.`,
    });
  }
  if (head === null || head.ref !== ref) throw await switched(git, site, ref, head);
  const elsewhere = await checkedOutElsewhere(git, site, ref);
  if (elsewhere !== null) {
    throw refuseCommit("checkedOutElsewhere", `${ref} is also checked out in ${elsewhere}`, {
      hint: "Remove that worktree, or switch it to another branch, then commit again.",
    });
  }
  return head.commit;
}

async function switched(
  git: Git,
  { repository }: Site,
  ref: string | null,
  head: Head | null,
): Promise<Error> {
  const now = head === null ? "nothing" : (head.ref ?? "a detached HEAD");
  const isGone = ref !== null && (await readRef(git, repository, ref)) === null;
  const then = `The sandbox was made on ${ref ?? "a detached HEAD"}`;
  const message = `${then}${isGone ? ", which is gone" : ""}, and the checkout is now on ${now}`;
  const back =
    isGone && head?.ref?.startsWith(BRANCHES) === true
      ? `If the branch was renamed, give it its name back (\`git branch -m ${typedName(head.ref)} ${typedName(ref)}\`)`
      : "Switch the checkout back";
  return refuseCommit("branchSwitched", message, {
    hint: `${back} and commit again, or roll the sandbox back to start from what is there now.`,
  });
}

/**
 * Refuses while commits are still to be replayed in the worktree of the sandbox: they are in no file of it yet, and in
 * nothing that a checkpoint keeps.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`) with the reason `operationInProgress`.
 */
export function refuseReplay(site: Site, attempted: "commit" | "checkpoint"): void {
  const operation = replayInside(site);
  if (operation === null) return;
  const what = `A git ${operation} is in progress in the worktree of the sandbox`;
  const isCommit = attempted === "commit";
  const message = isCommit ? what : `${what}, and what it still has to replay cannot be kept`;
  throw refuseCommit("operationInProgress", message, {
    operation: attempted,
    paths: [site.worktree],
    hint: `End it there: \`coffer exec PLAN -- git ${operation} --continue\`, or --abort, in the repository (\`coffer path PLAN\` tells the worktree). Then ${isCommit ? "commit" : "try"} again.`,
  });
}

/** Another worktree that has the branch checked out; null when none has. */
export async function checkedOutElsewhere(
  git: Git,
  { repository }: Site,
  ref: string | null,
): Promise<string | null> {
  if (ref === null) return null;
  const listed = await git.run(["worktree", "list", "--porcelain", "-z"], inRepository(repository));
  let folder = "";
  let number = 0;
  for (const line of splitZero(listed)) {
    if (line.startsWith("worktree ")) {
      folder = displayPath(line.slice("worktree ".length) as RelativePath);
      number++;
    }
    // The first one is the main checkout, whatever git calls it when its git directory lies elsewhere.
    if (line === `branch ${ref}` && !isOwnEntry(repository, folder, number === 1)) return folder;
  }
  return null;
}

/**
 * Verifies under both locks that the branch, the index and the files are what `prepare` saw.
 * @throws SandboxCommitError, SandboxConflictError.
 */
export async function verifyBefore(
  git: Git,
  site: Site,
  record: GitRecord,
  raw: readonly RawChange[],
): Promise<void> {
  if ((await requireTip(git, site, record.ref)) !== record.from) {
    throw refuseCommit("branchMoved", "Somebody else moved the branch at the last moment", {
      hint: "Commit again: it will be merged with what is there now.",
    });
  }
  const staged = overlapping(raw, await stagedPaths(git, site, record.from));
  const mismatches = await runTask("verifySteps", { root: site.place.root, stage: record.stage });
  const conflicts = [...staged, ...mismatches];
  if (conflicts.length > 0) throw conflictError(conflicts);
}
