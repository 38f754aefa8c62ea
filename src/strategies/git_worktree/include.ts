import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { ancestorsOf, isWithin, joinPath, nameOf, parentOf } from "../../model/byte-path.ts";
import { copyTree } from "../../tree/copy-tree.ts";
import { assertBeneath } from "../../tree/beneath.ts";
import { readGitProperties } from "./git-properties.ts";
import { addIncluded } from "./included-record.ts";
import { joinZero, splitZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import { type Site, privately } from "./site.ts";

const SHARED_LIST = ".worktreeinclude";

/**
 * Copies the ignored files of the checkout that people need in a worktree, such as `.env` and `node_modules`: those that
 * match the property `include` or the file `.worktreeinclude`, both in the manner of `.gitignore`. Files that git does
 * not ignore are never taken: they would be missed in a commit.
 */
export async function copyIncluded(git: Git, site: Site, target: BytePath): Promise<void> {
  const patterns = await readPatterns(site);
  if (patterns.trim() === "") return;
  const list = `${site.folder}/include`;
  await writeFile(list, patterns, { mode: 0o600 });
  const found = await findIncluded(git, site, list);
  // Before the first file is there: none of them may be recorded, whatever becomes of the list of what is ignored.
  await addIncluded(site, found);
  // The checkout may hold our own folders, which nobody asked for, and other worktrees: a copy of one would be a second
  // way into what git keeps of it.
  const never = [...site.place.exclude, ...(await worktreesBelow(site))];
  for (const path of found) await copyOne(site, path, target, never);
}

/** The linked worktrees of the repository that lie in the checkout. */
async function worktreesBelow({ place, repository }: Site): Promise<RelativePath[]> {
  const folder = `${repository.commonDirectory}/worktrees`;
  const found: RelativePath[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const link = await readFile(`${folder}/${name}/gitdir`, "latin1").catch(() => "");
    const admin = Buffer.from(`${folder}/${name}`).toString("latin1");
    const root = dirname(resolve(admin, link.trimEnd()));
    if (root.startsWith(`${place.root}/`))
      found.push(root.slice(place.root.length + 1) as RelativePath);
  }
  return found;
}

/** The ignored files that a list names; folders that are ignored as a whole are one entry each. */
async function findIncluded(git: Git, site: Site, list: string): Promise<RelativePath[]> {
  const { root, gitDirectory } = site.repository;
  const call = privately(site, { index: `${gitDirectory}/index`, files: root });
  const find = async (exclude: string): Promise<string[]> => {
    const args = ["ls-files", "-z", "--others", "--ignored", "--directory", exclude];
    return splitZero(await git.run(args, call));
  };
  const wanted = await find(`--exclude-from=${list}`);
  const whole = await ignoredAmong(git, call, wanted.map(asPath));
  // Such a folder is not ignored itself, but something in it may be.
  const mixed = new Set(wanted.filter((path) => path.endsWith("/")).map(asPath));
  for (const path of whole) mixed.delete(path);
  if (mixed.size === 0) return whole;
  const inside = (await find("--exclude-standard"))
    .map(asPath)
    .filter((path) => ancestorsOf(path).some((folder) => mixed.has(folder)));
  const all = new Set([...whole, ...(await ignoredAmong(git, call, inside))]);
  // git may list a folder, and what is in it besides.
  return [...all].filter((path) => !ancestorsOf(path).some((folder) => all.has(folder)));
}

/** Those of the paths that git ignores. */
async function ignoredAmong(
  git: Git,
  call: GitCall,
  paths: readonly RelativePath[],
): Promise<RelativePath[]> {
  if (paths.length === 0) return [];
  const { stdout } = await git.ask(["check-ignore", "-z", "--stdin"], {
    ...call,
    env: { ...call.env, GIT_LITERAL_PATHSPECS: "0" },
    // A name that begins with a colon would be taken for something else.
    input: joinZero(paths.map((path) => `./${path}`)),
    accept: [0, 1],
  });
  return splitZero(stdout).map((path) => path.slice("./".length) as RelativePath);
}

/** Without the slash behind a folder: git takes a pattern for what is in the folder, such as `logs/*`, as one for that. */
function asPath(listed: string): RelativePath {
  return listed.replace(/\/$/, "") as RelativePath;
}

async function readPatterns({ place, repository }: Site): Promise<string> {
  const { include } = readGitProperties(place.resource);
  const shared = `${repository.root}/${SHARED_LIST}`;
  const listed = existsSync(shared) ? await readFile(shared, "utf8") : "";
  return `${listed}\n${include.join("\n")}\n`;
}

async function copyOne(
  { place }: Site,
  path: RelativePath,
  target: BytePath,
  never: readonly RelativePath[],
): Promise<void> {
  if (never.some((own) => isWithin(path, own))) return;
  const folder = parentOf(path);
  const within = (root: BytePath): BytePath => (folder === "" ? root : joinPath(root, folder));
  const exclude = never
    .filter((own) => isWithin(own, path))
    .map((own) => (folder === "" ? own : own.slice(folder.length + 1)) as RelativePath);
  await mkdir(Buffer.from(within(target), "latin1"), { recursive: true });
  assertBeneath(target, folder);
  const [source, to] = [within(place.root), within(target)];
  await copyTree({ source, target: to, only: nameOf(path), exclude, reflink: "auto" });
}
