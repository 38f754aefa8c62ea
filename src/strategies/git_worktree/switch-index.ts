import { readFileSync, rmSync, statSync } from "node:fs";
import type { RelativePath } from "../../model/byte-path.ts";
import { copyWholeIndex } from "./copy-index.ts";
import { readFlags, stagedPaths } from "./checkout-state.ts";
import { type RawChange, joinZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import { type OwnLock, holdsLock, publishLock, releaseLock, takeLock } from "./own-lock.ts";
import { type Site, privately } from "./site.ts";

/** The lock of the user's index that a transaction takes. */
export function indexLock({ repository }: Site, name: string): OwnLock {
  const target = `${repository.gitDirectory}/index`;
  return {
    owner: `${repository.gitDirectory}/cofferdam-${name}.index`,
    lock: `${target}.lock`,
    target,
  };
}

/** One way of the index: the entries of these paths become those of the other commit. */
export interface IndexSwitch {
  readonly from: string;
  readonly to: string;
  /** What differs between the two; `after` is what the index shall have. */
  readonly raw: readonly RawChange[];
  /** Name for private files and for the lock. */
  readonly name: string;
  /** Paths (latin1) that the checkout leaves out: new entries of theirs say so. */
  readonly skipped: readonly string[];
}

/**
 * Replaces the entries of these paths in the user's index and nothing else; entries that somebody staged differently
 * stay. Recognises what is done, and can be repeated in every process after a crash at any moment. Gives the paths that
 * were left; null when somebody else has the index locked.
 */
export async function switchIndex(
  git: Git,
  site: Site,
  { from, to, raw, name, skipped }: IndexSwitch,
): Promise<readonly RelativePath[] | null> {
  const lock = indexLock(site, name);
  const isOther = new Set(await stagedPaths(git, site, to));
  if (!raw.some(({ path }) => isOther.has(path))) {
    releaseLock(lock);
    return [];
  }
  if (!holdsLock(lock) && !takeLock(lock)) return null;
  const isForeign = new Set(await stagedPaths(git, site, from));
  const wanted = raw.filter(({ path }) => isOther.has(path) && !isForeign.has(path));
  const draft = `${site.folder}/${name}.switch.index`;
  try {
    await write(git, site, draft, wanted, new Set(skipped));
    publishLock(lock, readFileSync(draft), statSync(draft, { bigint: true }).mtimeNs);
  } finally {
    rmSync(draft, { force: true });
  }
  return raw.filter(({ path }) => isOther.has(path) && isForeign.has(path)).map(({ path }) => path);
}

/** Writes the user's index with these entries replaced, their flags kept and what git knows of files refreshed. */
async function write(
  git: Git,
  site: Site,
  draft: string,
  wanted: readonly RawChange[],
  skipped: ReadonlySet<string>,
): Promise<void> {
  const { repository } = site;
  // Git may look at files again when it writes an index, with filters: never with those of the repository.
  const call = privately(site, { index: draft, files: repository.root });
  const flags = await readFlags(git, site, wanted);
  copyWholeIndex(site, `${repository.gitDirectory}/index`, draft);
  const zero = "0".repeat(repository.objectFormat === "sha256" ? 64 : 40);
  // Removals first: a folder may become a file.
  const removals = wanted.flatMap(({ path, after }) =>
    after === null ? [`0 ${zero}\t${path}`] : [],
  );
  const entries = wanted.flatMap(({ path, after }) =>
    after === null ? [] : [`${after.mode} ${after.oid}\t${path}`],
  );
  await git.run(["update-index", "-z", "--index-info"], {
    ...call,
    input: joinZero([...removals, ...entries]),
  });
  const isSkipped = ({ path, before }: RawChange): boolean =>
    before === null ? skipped.has(path) : flags.skipped.has(path);
  for (const [flag, isFlagged] of [
    ["--skip-worktree", isSkipped],
    ["--assume-unchanged", ({ path }: RawChange) => flags.assumed.has(path)],
  ] as const) {
    const again = wanted.filter((change) => change.after !== null && isFlagged(change));
    if (again.length === 0) continue;
    const input = joinZero(again.map(({ path }) => path));
    await git.run(["update-index", "-z", flag, "--stdin"], { ...call, input });
  }
  // Says 1 for files that the user has edited: they stay as they are.
  await git.ask(["update-index", "-q", "--refresh"], { ...call, accept: [0, 1] });
}
