import type { StrategyHost } from "../../contract/host.ts";
import { readGitProperties } from "./git-properties.ts";
import type { Git, GitCall } from "./git.ts";
import type { Site } from "./site.ts";

/** A commit to be written. */
export interface NewCommit {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly message: string;
}

/** Writes a commit object, by the user of git and at the time of the clock; nothing refers to it yet. */
export async function writeCommit(
  host: StrategyHost,
  git: Git,
  site: Site,
  call: GitCall,
  { tree, parents, message }: NewCommit,
): Promise<string> {
  const committer = {
    name: await setting(git, call, "user.name", "Cofferdam"),
    email: await setting(git, call, "user.email", "cofferdam@localhost"),
  };
  const author = { ...committer, ...readGitProperties(site.place.resource).author };
  const date = `@${Math.floor(host.clock.now().getTime() / 1000)} +0000`;
  const args = parents.flatMap((parent) => ["-p", parent]);
  return git.line(["commit-tree", tree, ...args, "-F", "-"], {
    ...call,
    input: Buffer.from(message.endsWith("\n") ? message : `${message}\n`, "utf8"),
    env: {
      ...call.env,
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: committer.name,
      GIT_COMMITTER_EMAIL: committer.email,
      GIT_COMMITTER_DATE: date,
    },
  });
}

async function setting(git: Git, call: GitCall, key: string, fallback: string): Promise<string> {
  const { exitCode, stdout } = await git.ask(["config", "--get", key], { ...call, accept: [0, 1] });
  const value = stdout.toString("utf8").trim();
  return exitCode === 0 && value !== "" ? value : fallback;
}
