import { readFile, rm, writeFile } from "node:fs/promises";
import { SandboxError } from "../../errors/index.ts";
import { refuseCommit } from "./failures.ts";
import { type Git, GitError, describeGit } from "./git.ts";
import type { Site } from "./site.ts";

const MOST_LINES = 3;

/** One run of the hooks of a commit. */
export interface HookRun {
  /** The index that is going to be committed. */
  readonly index: string;
  /** Name for private files. */
  readonly name: string;
}

/**
 * Runs `pre-commit` in the worktree of the sandbox, because the user asked for it. It may change files there.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`, reason `hook`) when it refuses.
 */
export async function runPreCommit(git: Git, site: Site, { index }: HookRun): Promise<void> {
  await runHook(git, site, index, "pre-commit", []);
}

/**
 * Runs `commit-msg` and gives the message that it left.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`, reason `hook`) when it refuses.
 */
export async function runCommitMessage(
  git: Git,
  site: Site,
  { index, name }: HookRun,
  message: string,
): Promise<string> {
  const file = `${site.folder}/${name}.message`;
  await writeFile(file, message.endsWith("\n") ? message : `${message}\n`, { mode: 0o600 });
  try {
    await runHook(git, site, index, "commit-msg", ["--", file]);
    return await readFile(file, "utf8");
  } finally {
    await rm(file, { force: true });
  }
}

async function runHook(
  git: Git,
  { admin, worktree }: Site,
  index: string,
  hook: string,
  args: readonly string[],
): Promise<void> {
  try {
    await git.run(["hook", "run", "--ignore-missing", hook, ...args], {
      cwd: worktree,
      env: { GIT_DIR: admin, GIT_WORK_TREE: worktree, GIT_INDEX_FILE: index },
      runsHooks: true,
    });
  } catch (cause) {
    if (cause instanceof SandboxError) throw cause;
    throw refuseCommit("hook", `The hook ${hook} refused: ${lastWords(cause)}`, { cause });
  }
}

/** What a hook said last, which is why it refused; before that it may have told what it was about to do. */
function lastWords(cause: unknown): string {
  const said = cause instanceof GitError ? cause.detail.split("\n") : [];
  const words = said.map((line) => line.trim()).filter((line) => line !== "");
  return words.length === 0 ? describeGit(cause) : words.slice(-MOST_LINES).join("; ");
}
