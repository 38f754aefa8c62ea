import { type RelativePath, displayPath } from "../../model/byte-path.ts";
import { findBeneath } from "../../tree/beneath.ts";
import { refuseCommit } from "./failures.ts";
import { joinZero, splitZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import { inRepository } from "./repository.ts";
import { type Site, privately, worktreePath } from "./site.ts";

/** Names of filters that never run: the repository defines them, or defines them in another way than the user. */
export type IdleFilters = ReadonlySet<string>;

/** Finds the filters that git itself would run in the checkout, and that calls with the private git directory do not. */
export async function findIdleFilters(git: Git, site: Site): Promise<IdleFilters> {
  const known = await definitions(git, inRepository(site.repository));
  if (known.size === 0) return new Set();
  const own = await definitions(git, privately(site, { index: `${site.admin}/index` }));
  return new Set([...known].flatMap(([name, how]) => (own.get(name) === how ? [] : name)));
}

/** Where the attributes of paths are looked up. */
export interface AttributeSource {
  readonly index: string;
  /** Whether only the index counts; else the files of the worktree come first. */
  readonly isIndexOnly: boolean;
}

/**
 * Refuses files whose content such a filter had to convert: without it, a secret would be committed as it is.
 * @throws SandboxCommitError (`SANDBOX_COMMIT`, reason `filter`) that names them.
 */
export async function refuseUnfiltered(
  git: Git,
  site: Site,
  idle: IdleFilters,
  paths: readonly RelativePath[],
  { index, isIndexOnly }: AttributeSource,
): Promise<void> {
  if (idle.size === 0 || paths.length === 0) return;
  const args = ["check-attr", "-z", "--stdin", ...(isIndexOnly ? ["--cached"] : []), "filter"];
  const { gitDirectory } = site.repository;
  const answer = await git.run(args, {
    cwd: site.worktree,
    env: { GIT_DIR: gitDirectory, GIT_WORK_TREE: site.worktree, GIT_INDEX_FILE: index },
    input: joinZero(paths),
  });
  const parts = splitZero(answer);
  const refused = paths.filter((_path, at) => idle.has(parts[at * 3 + 2] ?? ""));
  const [first] = refused;
  if (first === undefined) return;
  const names = refused.map(displayPath);
  const message = `A filter that the repository's own configuration defines would have to run for ${names.join(", ")}`;
  throw refuseCommit("filter", message, {
    path: first,
    paths: names,
    hint: "Drop these edits here and commit them in the checkout with git itself, or define the filter outside of the repository (git config --global), then commit again.",
  });
}

/** Those of the paths at which the worktree has files: links and removals are never converted. */
export function filesAmong(site: Site, paths: readonly RelativePath[]): RelativePath[] {
  const root = worktreePath(site);
  return paths.filter((path) => findBeneath(root, path)?.type === "file");
}

/** How each filter is defined for calls of a kind; empty settings count as none. */
async function definitions(git: Git, call: GitCall): Promise<Map<string, string>> {
  const args = ["config", "-z", "--includes", "--get-regexp", String.raw`^filter\.`];
  const { stdout } = await git.ask(args, { ...call, accept: [0, 1] });
  const found = new Map<string, Map<string, string>>();
  for (const part of splitZero(stdout)) {
    const [, name, setting, value = "true"] =
      /^filter\.(.+)\.([^.\n]+)(?:\n(.*))?$/s.exec(part) ?? [];
    if (name === undefined || setting === undefined) continue;
    const settings = found.get(name) ?? new Map<string, string>();
    found.set(name, settings.set(setting, value));
  }
  const told = [...found].map(([name, settings]) => {
    const lines = [...settings].filter(([, value]) => value !== "").map((one) => one.join("="));
    return [name, lines.sort().join("\n")] as const;
  });
  return new Map(told.filter(([, how]) => how !== ""));
}
