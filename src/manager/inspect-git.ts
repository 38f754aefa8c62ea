import { describeThrown, errnoOf } from "../errors/index.ts";
import type { Ability } from "../platform/ability.ts";
import { run } from "../platform/run.ts";

/** The git of this machine; merging text needs it. */
export interface GitReport extends Ability {
  readonly version: string | null;
}

const HINT = "apt-get install git";

/** Asks git for its version. */
export async function inspectGit(): Promise<GitReport> {
  try {
    const { exitCode, stdout } = await run("git", ["--version"], { timeoutMs: 5_000 });
    const version = /\d+(?:\.\d+)+/.exec(stdout.toString("utf8"))?.[0] ?? null;
    if (exitCode === 0 && version !== null) return { works: true, version };
    return { works: false, version: null, reason: `git ended with ${exitCode}`, hint: HINT };
  } catch (error) {
    const isMissing = errnoOf(error) === "ENOENT";
    const reason = isMissing ? "the program git is not installed" : describeThrown(error);
    return { works: false, version: null, reason, hint: HINT };
  }
}
