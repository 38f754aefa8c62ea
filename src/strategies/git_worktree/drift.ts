import type { DriftEntry } from "../../model/diff-view.ts";
import { publicPath } from "../../tree/public-path.ts";
import { readBase } from "./base-record.ts";
import { type RawChange, parseRaw } from "./git-output.ts";
import type { Git } from "./git.ts";
import { inRepository } from "./repository.ts";
import { type Site, privately } from "./site.ts";

/** What others committed on the branch since the sandbox was made, but for the paths that the sandbox changes itself. */
export async function driftOf(
  git: Git,
  site: Site,
  own: readonly RawChange[],
): Promise<readonly DriftEntry[]> {
  const { commit, ref } = await readBase(site);
  const inHere = { ...inRepository(site.repository), accept: [0, 1] };
  const found = await git.ask(["rev-parse", "-q", "--verify", `${ref ?? "HEAD"}^{commit}`], inHere);
  // A branch that was deleted has nothing new.
  const tip = found.exitCode === 0 ? found.stdout.toString("utf8").trim() : commit;
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", commit, tip];
  const touched = new Set(own.map(({ path }) => path));
  return parseRaw(await git.run(args, privately(site, { index: `${site.admin}/index` })))
    .filter(({ path }) => !touched.has(path))
    .map(({ path, before, after }) => ({ ...publicPath(path), reason: reasonOf(before, after) }));
}

function reasonOf(before: unknown, after: unknown): DriftEntry["reason"] {
  if (before === null) return "new";
  return after === null ? "missing" : "changed";
}
