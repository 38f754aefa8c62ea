import type { DriftEntry } from "../../model/diff-view.ts";
import { publicPath } from "../../tree/public-path.ts";
import { type RawChange, parseRaw } from "./git-output.ts";
import type { Git } from "./git.ts";
import { branchTip } from "./history.ts";
import { type Site, privately } from "./site.ts";

/** What others committed on the branch and the sandbox has not taken in, but for the paths that it changes itself. */
export async function driftOf(
  git: Git,
  site: Site,
  { raw, base }: { readonly raw: readonly RawChange[]; readonly base: string },
): Promise<readonly DriftEntry[]> {
  const tip = await branchTip(git, site);
  const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", base, tip];
  const touched = new Set(raw.map(({ path }) => path));
  return parseRaw(await git.run(args, privately(site, { index: `${site.admin}/index` })))
    .filter(({ path }) => !touched.has(path))
    .map(({ path, before, after }) => ({ ...publicPath(path), reason: reasonOf(before, after) }));
}

function reasonOf(before: unknown, after: unknown): DriftEntry["reason"] {
  if (before === null) return "new";
  return after === null ? "missing" : "changed";
}
