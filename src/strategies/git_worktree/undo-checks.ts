import { displayPath, isWithin } from "../../model/byte-path.ts";
import type { UndoCheck } from "../../tree/publish/index.ts";
import { rollbackError } from "../../tree/strategy/commit-errors.ts";
import { runTask } from "../../tree/threads/pool.ts";
import type { OpenPlace } from "../../tree/workspace.ts";
import {
  dirtyPaths,
  operationInProgress,
  overlapping,
  readFlags,
  stagedPaths,
} from "./checkout-state.ts";
import { checkedOutElsewhere } from "./checks.ts";
import type { GitRecord } from "./commit-record.ts";
import { refuseUndo } from "./failures.ts";
import type { RawChange } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import { isAncestor } from "./history.ts";
import { type Head, inRepository, readHead, readRef, typedName } from "./repository.ts";
import type { Site } from "./site.ts";

const SHOWN_DIGITS = 12;

type OpenSite = Site & { readonly place: OpenPlace };

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
  if (head === null || head.ref !== ref || head.commit !== to)
    throw await moved(git, site, record, head);
  const operation = operationInProgress(site);
  if (operation !== null)
    throw refuseUndo(place, `A git ${operation} is in progress in the checkout`, {
      paths: [operation],
      hint: `Finish it, or give it up with \`git ${operation} --abort\`, then roll back again.`,
    });
  const elsewhere = await checkedOutElsewhere(git, site, ref);
  if (elsewhere !== null)
    throw refuseUndo(place, `${ref} is also checked out in ${elsewhere}`, {
      paths: [elsewhere],
      hint: "Remove that worktree, or switch it to another branch, then roll back again.",
    });
  const staged = overlapping(raw, await stagedPaths(git, site, to));
  if (staged.length > 0) {
    const paths = staged.map(({ path }) => displayPath(path));
    throw refuseUndo(place, `Somebody staged changes of ${paths.join(", ")}`, { paths });
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
  throw refuseUndo(site.place, `Somebody checked ${paths.join(", ")} out since`, { paths });
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

async function moved(
  git: Git,
  { place, repository }: OpenSite,
  { ref, from, to }: GitRecord,
  head: Head | null,
): Promise<Error> {
  const at = await readRef(git, repository, ref ?? "HEAD");
  if (ref !== null && at === to) {
    const now = head?.ref ?? "a detached HEAD";
    return refuseUndo(place, `The commit was made on ${ref}, and the checkout is now on ${now}`, {
      paths: [ref],
      hint: `Switch the checkout back (\`git switch ${typedName(ref)}\`), then roll back again.`,
    });
  }
  const name = ref ?? "HEAD";
  const where = at === null ? "it is gone" : `it is at ${at}`;
  const call = inRepository(repository);
  const isHere = head !== null && (at === null || at === head.commit);
  const canRevert = isHere && (await isAncestor(git, call, to, head.commit));
  const orRevert = canRevert ? `, or ${await revertOf(git, call, { from, to })}` : "";
  return refuseUndo(place, `${name} was moved away from ${to}: ${where}`, {
    paths: [name],
    hint: `Take that back first${orRevert}.`,
  });
}

/** How git itself takes a commit back, with the command where that is one. */
async function revertOf(
  git: Git,
  call: GitCall,
  { from, to }: Pick<GitRecord, "from" | "to">,
): Promise<string> {
  const listed = await git.line(["rev-list", "--parents", "-1", to], call);
  const [, first, second] = listed.split(" ");
  const side = second === undefined ? "" : "-m 1 ";
  const command = first === from ? `: \`git revert ${side}${to.slice(0, SHOWN_DIGITS)}\`` : "";
  return `revert the commit with git${command}`;
}
