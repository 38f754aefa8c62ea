import { existsSync, readFileSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { SandboxCreationError } from "../../errors/index.ts";
import type { Resource } from "../../model/resource.ts";
import { type Git, type GitCall, GitError, describeGit } from "./git.ts";

/** A checkout with the repository behind it. All paths are absolute. */
export interface Repository {
  /** The top of the checkout. */
  readonly root: string;
  /** Where HEAD and the index of this checkout are. */
  readonly gitDirectory: string;
  /** Where refs and objects are; the same unless the checkout is a linked worktree. */
  readonly commonDirectory: string;
  readonly objectFormat: string;
}

/** What is checked out. */
export interface Head {
  /** The branch; null when HEAD names a commit itself. */
  readonly ref: string | null;
  readonly commit: string;
}

/**
 * Finds the repository whose checkout the resource is.
 * @throws SandboxCreationError (`SANDBOX_CREATION`) with the reason as stage for anything that is not exactly that.
 */
export async function findRepository(git: Git, resource: Resource): Promise<Repository> {
  const location = await realpath(resource.location).catch((cause: unknown) => {
    if (resource.location.includes(UNREADABLE)) throw oddName(resource, "is not UTF-8");
    throw refused(resource, "locate", `${resource.location} cannot be reached`, { cause });
  });
  const call: GitCall = { cwd: location, env: { GIT_CEILING_DIRECTORIES: dirname(location) } };
  const [isBare] = await ask(git, resource, ["--is-bare-repository"], call);
  if (isBare === "true") throw refused(resource, "bare", `${location} is a bare repository`);
  const answers = await ask(
    git,
    resource,
    [
      "--path-format=absolute",
      "--show-toplevel",
      "--git-dir",
      "--git-common-dir",
      "--show-object-format",
    ],
    call,
  );
  const [root = "", gitDirectory = "", commonDirectory = "", objectFormat = ""] = answers;
  if (answers.length !== 4) throw oddName(resource, "has a line break, and git answers by lines");
  if (
    [gitDirectory, commonDirectory].some((path) => path.includes(UNREADABLE) && !existsSync(path))
  )
    throw oddName(resource, "is not UTF-8");
  if ((await realpath(root)) !== location) {
    throw refused(resource, "notRoot", `${location} is not the top folder of a checkout`);
  }
  return { root: location, gitDirectory, commonDirectory, objectFormat };
}

/** What bytes that are no UTF-8 are read as. */
const UNREADABLE = "\uFFFD";

function oddName(resource: Resource, problem: string): SandboxCreationError {
  const message = `A folder of the repository ${JSON.stringify(resource.location)} has a name that cannot be used: it ${problem}`;
  const hint = "Rename it, or move the repository. Names inside the repository can have any bytes.";
  return refused(resource, "oddName", message, { hint });
}

/** Git calls that concern the repository itself. */
export function inRepository({ root, gitDirectory }: Repository): GitCall {
  return { cwd: root, env: { GIT_DIR: gitDirectory, GIT_WORK_TREE: root } };
}

/** Whether an entry of git's list of worktrees, with the folder that it names, is that of this very checkout. */
export function isOwnEntry(
  { root, gitDirectory, commonDirectory }: Repository,
  folder: string,
  isMain: boolean,
): boolean {
  if (gitDirectory === commonDirectory) return isMain;
  if (folder === root) return true;
  if (isMain) return false;
  // Moved without git it is listed at the old place, where it is no more.
  const link = readFileSync(`${gitDirectory}/gitdir`, "utf8").trimEnd();
  return dirname(resolve(gitDirectory, link)) === folder && !existsSync(`${folder}/.git`);
}

/** What is checked out now; null on a branch without a commit. Of one that only names another, git tells the other. */
export async function readHead(git: Git, repository: Repository): Promise<Head | null> {
  const call = { ...inRepository(repository), accept: [0, 1] };
  const symbolic = await git.ask(["symbolic-ref", "-q", "HEAD"], call);
  const commit = await git.ask(["rev-parse", "-q", "--verify", "HEAD^{commit}"], call);
  if (commit.exitCode === 1) return null;
  const ref = symbolic.exitCode === 1 ? null : symbolic.stdout.toString("utf8").trim();
  return { ref, commit: commit.stdout.toString("utf8").trim() };
}

/**
 * What a new sandbox starts from.
 * @throws SandboxCreationError (`SANDBOX_CREATION`) for a branch without a commit, or one whose name is not UTF-8.
 */
export async function requireHead(
  git: Git,
  repository: Repository,
  resource: Resource,
): Promise<Head> {
  const head = await readHead(git, repository).catch((cause: unknown) => {
    throw refused(resource, "head", `HEAD cannot be read: ${describeGit(cause)}`, { cause });
  });
  if (head === null) throw refused(resource, "unborn", "The branch has no commit yet");
  if (head.ref?.includes(UNREADABLE) === true && !(await isKnown(git, repository, head.ref))) {
    const message = `The branch ${head.ref} has a name that cannot be used: it is not UTF-8`;
    const hint = "Rename it (`git branch -m`). Names of files can have any bytes.";
    throw refused(resource, "oddName", message, { hint });
  }
  return head;
}

async function isKnown(git: Git, repository: Repository, ref: string): Promise<boolean> {
  const call = { ...inRepository(repository), accept: [0, 1] };
  return (await git.ask(["show-ref", "-q", "--verify", ref], call)).exitCode === 0;
}

/** The commit that a ref is at; null when it is gone. */
export async function readRef(
  git: Git,
  repository: Repository,
  ref: string,
): Promise<string | null> {
  const call = { ...inRepository(repository), accept: [0, 1] };
  const found = await git.ask(["rev-parse", "-q", "--verify", `${ref}^{commit}`], call);
  return found.exitCode === 0 ? found.stdout.toString("utf8").trim() : null;
}

/** What the names of branches begin with. */
export const BRANCHES = "refs/heads/";

/** The name of a branch as one gives it to git. */
export function shortName(ref: string): string {
  return ref.startsWith(BRANCHES) ? ref.slice(BRANCHES.length) : ref;
}

/** The name of a branch as one types it: that of somebody else's may have characters that a shell acts upon. */
export function typedName(ref: string): string {
  const name = shortName(ref);
  return /[^\w./@-]/.test(name) ? `'${name.replaceAll("'", String.raw`'\''`)}'` : name;
}

async function ask(
  git: Git,
  resource: Resource,
  args: readonly string[],
  call: GitCall,
): Promise<string[]> {
  try {
    return (await git.line(["rev-parse", ...args], call)).split("\n");
  } catch (cause) {
    if (!(cause instanceof GitError)) throw cause;
    if (cause.detail.includes("dubious ownership")) {
      throw refused(resource, "ownership", "The repository belongs to somebody else", {
        cause,
        hint: `Trust it with: git config --global --add safe.directory ${resource.location}`,
      });
    }
    const isUnknown = cause.detail.includes("not a git repository");
    const top = isUnknown ? await topAbove(git, call) : null;
    if (top !== null)
      throw refused(resource, "notRoot", `${resource.location} lies inside the checkout ${top}`, {
        cause,
        hint: `Give the whole checkout: ${top}`,
      });
    const stage = isUnknown ? "notRepository" : "unreadable";
    const message = isUnknown
      ? `${resource.location} is no git repository`
      : `git cannot work with ${resource.location}: ${describeGit(cause)}`;
    throw refused(resource, stage, message, {
      cause,
      ...(!isUnknown && { hint: UNREADABLE_HINT }),
    });
  }
}

const UNREADABLE_HINT =
  "Make `git status` work there, such as by installing a newer git, then try again.";

/** The checkout that a folder is inside of; null when there is none. */
async function topAbove(git: Git, { cwd }: GitCall): Promise<string | null> {
  const call = { ...(cwd !== undefined && { cwd }), accept: [0, 128] };
  const { exitCode, stdout } = await git.ask(["rev-parse", "--show-toplevel"], call);
  return exitCode === 0 ? stdout.toString("utf8").replace(/\n$/, "") : null;
}

/** Refuses a resource before anything was made. */
export function refused(
  { resourceId }: Resource,
  stage: string,
  message: string,
  details: { readonly cause?: unknown; readonly hint?: string } = {},
): SandboxCreationError {
  return new SandboxCreationError(message, {
    operation: "create",
    resourceId,
    hint: details.hint ?? "Give the top folder of a checkout that has at least one commit.",
    data: { stage, residue: [] },
    ...(details.cause !== undefined && { cause: details.cause }),
  });
}
