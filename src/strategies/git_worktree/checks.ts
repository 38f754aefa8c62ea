import { runTask } from "../../tree/threads/pool.ts";
import type { UndoCheck } from "../../tree/publish/index.ts";
import { rollbackError } from "../../tree/strategy/commit-errors.ts";
import { type RelativePath, displayPath, isWithin } from "../../model/byte-path.ts";
import {
  dirtyPaths,
  operationInProgress,
  overlapping,
  readFlags,
  replayInside,
  stagedPaths,
} from "./checkout-state.ts";
import type { GitRecord } from "./commit-record.ts";
import { conflictError, refuseCommit, refuseUndo } from "./failures.ts";
import { type RawChange, splitZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import { type Head, inRepository, isOwnEntry, readHead } from "./repository.ts";
import type { Site } from "./site.ts";
import type { OpenPlace } from "../../tree/workspace.ts";

type OpenSite = Site & { readonly place: OpenPlace };

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
  if (head === null || head.ref !== ref) {
    const now = head === null ? "nothing" : (head.ref ?? "a detached HEAD");
    const message = `The sandbox was made on ${ref ?? "a detached HEAD"}, and the checkout is now on ${now}`;
    throw refuseCommit("branchSwitched", message, {
      hint: "Switch the checkout back and commit again, or roll the sandbox back to start from what is there now.",
    });
  }
  const elsewhere = await checkedOutElsewhere(git, site, ref);
  if (elsewhere !== null) {
    throw refuseCommit("checkedOutElsewhere", `${ref} is also checked out in ${elsewhere}`, {
      hint: "Remove that worktree, or switch it to another branch, then commit again.",
    });
  }
  return head.commit;
}

/**
 * Refuses while commits are still to be replayed in the worktree of the sandbox: they are in no file of it yet.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`) with the reason `operationInProgress`.
 */
export function refuseReplay(site: Site): void {
  const operation = replayInside(site);
  if (operation === null) return;
  const message = `A git ${operation} is in progress in the worktree of the sandbox`;
  throw refuseCommit("operationInProgress", message, {
    paths: [site.worktree],
    hint: `End it there: \`coffer exec PLAN -- git ${operation} --continue\`, or --abort, in the repository (\`coffer path PLAN\` tells the worktree). Then commit again.`,
  });
}

/** Another worktree that has the branch checked out; null when none has. */
async function checkedOutElsewhere(
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
  if (conflicts.length > 0) throw conflictError(conflicts, "checkout");
}

/**
 * Verifies that a commit can be taken back: branch, index and files are what it made of them.
 * @throws SandboxRollbackError (`SANDBOX_ROLLBACK`) that says what moved.
 */
export async function verifyAfter(
  git: Git,
  site: OpenSite,
  record: GitRecord,
  raw: readonly RawChange[],
): Promise<void> {
  const { place } = site;
  const { ref, to, stage } = record;
  const head = await readHead(git, site.repository);
  if (head === null || head.ref !== ref || head.commit !== to) throw moved(place, record, head);
  const operation = operationInProgress(site);
  if (operation !== null)
    throw refuseUndo(place, `A git ${operation} is in progress in the checkout`, [operation]);
  const elsewhere = await checkedOutElsewhere(git, site, ref);
  if (elsewhere !== null)
    throw refuseUndo(place, `${ref} is also checked out in ${elsewhere}`, [elsewhere]);
  const staged = overlapping(raw, await stagedPaths(git, site, to));
  if (staged.length > 0) {
    const paths = staged.map(({ path }) => displayPath(path));
    throw refuseUndo(place, `Somebody staged changes of ${paths.join(", ")}`, paths);
  }
  await refuseAppeared(git, site, record, raw);
  const check = await checkFiles(git, site, record, raw);
  if (check.status === "undoDataMissing") throw rollbackError("undoDataMissing", place, [], stage);
  if (check.status === "foreignEdits")
    throw rollbackError("foreignEdits", place, check.paths.map(displayPath), stage);
}

/** Files that were left out of the checkout are not in the undo data: once they are there, they cannot be taken back. */
async function refuseAppeared(
  git: Git,
  site: OpenSite,
  { skipped = [] }: GitRecord,
  raw: readonly RawChange[],
): Promise<void> {
  const left = new Set<string>(skipped);
  const made = raw.filter(({ path, after }) => after !== null && left.has(path));
  if (made.length === 0) return;
  const flags = await readFlags(git, site, made);
  const appeared = made.filter(({ path }) => !flags.skipped.has(path));
  if (appeared.length === 0) return;
  const paths = appeared.map(({ path }) => displayPath(path));
  throw refuseUndo(site.place, `Somebody checked ${paths.join(", ")} out since`, paths);
}

/** Files that git wrote anew with what was committed, as it does when branches are switched, are nobody's edits. */
async function checkFiles(
  git: Git,
  site: OpenSite,
  { stage, ulid }: GitRecord,
  raw: readonly RawChange[],
): Promise<UndoCheck> {
  const at = { root: site.place.root, stage };
  const check = await runTask("checkUndo", at);
  if (check.status !== "foreignEdits") return check;
  const committed = raw
    .filter(({ path, after }) => after !== null && check.paths.some((one) => isWithin(path, one)))
    .map(({ path, after }) => ({ path, before: after, after }));
  const dirty = await dirtyPaths(git, site, `${ulid}.undo`, committed);
  const edited = new Set(dirty.map(({ path }) => path));
  const paths = committed.map(({ path }) => path).filter((path) => !edited.has(path));
  if (paths.length === 0) return check;
  await runTask("adoptEntries", { ...at, paths });
  return runTask("checkUndo", at);
}

function moved(place: OpenPlace, { ref, to }: GitRecord, head: Head | null): Error {
  const name = ref ?? "HEAD";
  const now = head === null ? "nothing" : `${head.ref ?? "a bare commit"} at ${head.commit}`;
  return refuseUndo(place, `${name} was moved away from ${to}: the checkout is on ${now}`, [name]);
}
