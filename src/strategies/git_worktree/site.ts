import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { displayPath } from "../../model/byte-path.ts";
import type { Json, SandboxRef } from "../../model/sandbox-ref.ts";
import type { OpenPlace, SandboxPlace } from "../../tree/workspace.ts";
import type { GitCall } from "./git.ts";
import { BRANCHES, type Repository } from "./repository.ts";

/** Where everything of one sandbox lies; derived from its place and its repository alone. */
export interface Site {
  readonly place: SandboxPlace;
  readonly repository: Repository;
  /** The private folder of the sandbox as text. */
  readonly folder: string;
  /** The linked worktree. */
  readonly worktree: string;
  /** What the repository knows of the worktree: its HEAD and index. */
  readonly admin: string;
  /** The branch of the worktree. */
  readonly branch: string;
  /** Below this lie the refs that keep our objects. */
  readonly pins: string;
  /** A git directory without anybody's settings: calls that look at content use it. */
  readonly privateGit: string;
}

/** The worktree's own link to the repository: never seen, written or published. */
export const GIT_LINK = ".git" as RelativePath;

/** The site of a sandbox. */
export function siteOf(place: SandboxPlace, repository: Repository): Site {
  const folder = displayPath(place.directory);
  const name = `cofferdam-${place.sandboxId}`;
  return {
    place: { ...place, exclude: [...place.exclude, GIT_LINK] },
    repository,
    folder,
    worktree: `${folder}/${name}`,
    admin: `${repository.commonDirectory}/worktrees/${name}`,
    // Not in a folder of ours: somebody may have a branch of that name.
    branch: `${BRANCHES}${name}`,
    pins: `refs/cofferdam/${place.sandboxId}`,
    privateGit: `${folder}/git`,
  };
}

/** Facts about the repository that go into the ref. */
export function repositoryMetadata(repository: Repository): { readonly [key: string]: Json } {
  const { gitDirectory, commonDirectory, objectFormat } = repository;
  return { gitDirectory, commonDirectory, objectFormat };
}

/** The site of a sandbox that exists. */
export function openSite(place: OpenPlace, { metadata }: SandboxRef): Site & { place: OpenPlace } {
  const repository = {
    root: displayPath(place.root),
    gitDirectory: metadata["gitDirectory"] as string,
    commonDirectory: metadata["commonDirectory"] as string,
    objectFormat: metadata["objectFormat"] as string,
  };
  const site = siteOf(place, repository);
  return { ...site, place: { ...place, exclude: site.place.exclude } };
}

/** The worktree as a path of the tree engine. */
export function worktreePath({ place }: Site): BytePath {
  return `${place.directory}/cofferdam-${place.sandboxId}` as BytePath;
}

/** What a call with the private git directory may be given. */
export interface PrivateCall {
  readonly index: string;
  /** Where files are looked at or written; the worktree unless told. */
  readonly files?: string;
  /** Where new objects go; the repository's own unless told. */
  readonly objects?: string;
}

/** Calls that look at content: objects of the repository, settings of nobody but the user. */
export function privately(site: Site, { index, files, objects }: PrivateCall): GitCall {
  const own = `${site.repository.commonDirectory}/objects`;
  const shallow = `${site.repository.commonDirectory}/shallow`;
  const folder = files ?? site.worktree;
  return {
    cwd: folder,
    env: {
      GIT_DIR: site.privateGit,
      GIT_WORK_TREE: folder,
      GIT_INDEX_FILE: index,
      GIT_OBJECT_DIRECTORY: objects ?? own,
      GIT_SHALLOW_FILE: shallow,
      ...(objects !== undefined && { GIT_ALTERNATE_OBJECT_DIRECTORIES: quoted(own) }),
    },
  };
}

/** A colon would end the path. */
function quoted(path: string): string {
  return `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}
