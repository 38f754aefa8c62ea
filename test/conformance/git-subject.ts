import { execFileSync } from "node:child_process";
import { join } from "node:path";
import {
  type ConformanceSession,
  type ConformanceSubject,
  directorySubject,
} from "../../src/testing/index.ts";

const COMMIT =
  "git -c user.name=t -c user.email=t@example.invalid commit -q --allow-empty -m first";

/** Checkouts whose git directory lies beside them, so that the tree of the resource holds the user's files alone. */
export function gitSubject(): ConformanceSubject {
  const strategyName = "git_worktree";
  const directories = directorySubject({ name: strategyName, strategyName });
  return {
    name: strategyName,
    strategyName,
    open: async () => withRepositories(await directories.open()),
  };
}

function withRepositories(session: ConformanceSession): ConformanceSession {
  return {
    ...session,
    makeResource: async (tree) => {
      const resource = await session.makeResource(tree);
      const { location, resourceId } = resource;
      const script = `git init -q --separate-git-dir '${join(session.folder, resourceId)}.git' .; git add -A; ${COMMIT}`;
      execFileSync("sh", ["-ec", script], { cwd: location });
      return { ...resource, type: "git-repository" };
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
