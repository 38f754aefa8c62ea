import { mkdir, rm } from "node:fs/promises";
import type { PublishPolicy } from "../../contract/strategy.ts";
import { type BytePath, type RelativePath, toBytePath } from "../../model/byte-path.ts";
import { lookUpReal } from "../../tree/conflicts.ts";
import { checkDatabases } from "../../tree/guard/databases.ts";
import { applyPolicy } from "../../tree/publish-policy.ts";
import { runTask } from "../../tree/threads/pool.ts";
import { dirtyPaths, overlapping, readFlags, stagedPaths } from "./checkout-state.ts";
import { isSubmoduleChange } from "./drop-submodules.ts";
import { conflictError } from "./failures.ts";
import { type RawChange, joinZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import { type Site, privately } from "./site.ts";
import { outsideCheckout } from "./sparse-checkout.ts";
import { submoduleMoved } from "./submodules.ts";
import { checkoutChanges } from "./tree-changes.ts";

/** What is staged, and where. */
export interface CheckoutStage {
  /** Name for private files. */
  readonly name: string;
  readonly stage: BytePath;
  /** The commit that the checkout has to be at. */
  readonly from: string;
  /** An index of what the branch becomes. */
  readonly index: string;
  readonly policy: PublishPolicy;
}

/** What became of the changes. */
export interface StagedCheckout {
  /** Paths that could not keep an owner or attribute. */
  readonly losses: readonly RelativePath[];
  /** Paths that the user's checkout leaves out: they are committed, and their files do not appear. */
  readonly skipped: readonly RelativePath[];
  /** Those of them whose files are there all the same, and stay as they are. */
  readonly stale: readonly RelativePath[];
}

/**
 * Checks the changed files out beside the checkout, refuses what is in their way there, and stages them for the tree
 * engine. The checkout and its index are only looked at.
 * @throws SandboxConflictError (`SANDBOX_CONFLICT`) that names every edit in the way.
 */
export async function stageCheckout(
  git: Git,
  site: Site,
  raw: readonly RawChange[],
  { name, stage, from, index, policy }: CheckoutStage,
): Promise<StagedCheckout> {
  const { place } = site;
  const submodule = raw.find(isSubmoduleChange);
  if (submodule !== undefined) throw submoduleMoved(submodule.path);
  const files = `${site.folder}/${name}.files`;
  const { skipped: known } = await readFlags(git, site, raw);
  const added = raw.flatMap(({ path, before }) => (before === null ? [path] : []));
  const outside = await outsideCheckout(git, site, added, files);
  // Somebody's own file is in the way there as it is everywhere.
  const free = [...outside].filter((path) => lookUpReal(place.root, path).real === null);
  const skipped = new Set([...known, ...free]);
  const stale = [...known].filter((path) => lookUpReal(place.root, path).real !== null);
  const present = raw.filter(({ path }) => !skipped.has(path));
  try {
    await mkdir(files, { mode: 0o700 });
    const wanted = present.flatMap(({ path, after }) => (after === null ? [] : [path]));
    await git.run(["checkout-index", "-z", "-q", "-f", "--stdin"], {
      ...privately(site, { index, files }),
      input: joinZero(wanted),
    });
    const found = checkoutChanges(place.root, toBytePath(files), present);
    const staged = overlapping(raw, await stagedPaths(git, site, from));
    // Looked at after the entries were read: an edit from now on is found when the steps are verified.
    const dirty = await dirtyPaths(git, site, `${name}.clean`, present);
    const known = new Map([...found.conflicts, ...staged, ...dirty].map((at) => [at.path, at]));
    if (known.size > 0) throw conflictError([...known.values()]);
    const changes = applyPolicy(found.changes, place.root, policy);
    checkDatabases(place, changes);
    const { losses } = await runTask("stageChanges", {
      root: place.root,
      only: null,
      exclude: place.exclude,
      sourceRoots: [toBytePath(files)],
      stage,
      changes,
    });
    return { losses: losses.map(({ path }) => path), skipped: [...skipped], stale };
  } finally {
    await rm(files, { recursive: true, force: true });
  }
}
