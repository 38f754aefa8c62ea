import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import type { BytePath, RelativePath } from "../../model/byte-path.ts";
import { displayPath, nameOf, parentOf } from "../../model/byte-path.ts";
import { copyTree } from "../../tree/copy-tree.ts";
import { assertBeneath } from "../../tree/beneath.ts";
import { readGitProperties } from "./git-properties.ts";
import { joinZero, splitZero } from "./git-output.ts";
import type { Git } from "./git.ts";
import { type Site, privately } from "./site.ts";

const SHARED_LIST = ".worktreeinclude";

/**
 * Copies the ignored files of the checkout that people need in a worktree, such as `.env` and `node_modules`: those that
 * match the property `include` or the file `.worktreeinclude`, both in the manner of `.gitignore`. Files that git does
 * not ignore are never taken: they would be committed.
 */
export async function copyIncluded(git: Git, site: Site, target: BytePath): Promise<void> {
  const patterns = await readPatterns(site);
  if (patterns.trim() === "") return;
  const list = `${site.folder}/include`;
  await writeFile(list, patterns, { mode: 0o600 });
  const { root, gitDirectory } = site.repository;
  const call = privately(site, { index: `${gitDirectory}/index`, files: root });
  const wanted = await git.run(
    ["ls-files", "-z", "--others", "--ignored", "--directory", `--exclude-from=${list}`],
    call,
  );
  if (wanted.length === 0) return;
  const ignored = await git.ask(["check-ignore", "-z", "--stdin"], {
    ...call,
    env: { ...call.env, GIT_LITERAL_PATHSPECS: "0" },
    // A name that begins with a colon would be taken for something else.
    input: joinZero(splitZero(wanted).map((path) => `./${path}`)),
    accept: [0, 1],
  });
  for (const found of splitZero(ignored.stdout)) {
    await copyOne(site, found.replace(/^\.\/|\/$/g, "") as RelativePath, target);
  }
}

async function readPatterns({ place, repository }: Site): Promise<string> {
  const { include } = readGitProperties(place.resource);
  const shared = `${repository.root}/${SHARED_LIST}`;
  const listed = existsSync(shared) ? await readFile(shared, "utf8") : "";
  return `${listed}\n${include.join("\n")}\n`;
}

async function copyOne(
  { place, privateGit }: Site,
  path: RelativePath,
  target: BytePath,
): Promise<void> {
  const own = displayPath(path);
  // The checkout may hold our own folders, which nobody asked for.
  if (place.exclude.some((excluded) => excluded === path) || privateGit.endsWith(own)) return;
  const [from, to] = [place.root, target].map((root) => {
    const parent = parentOf(path);
    return (parent === "" ? root : `${root}/${parent}`) as BytePath;
  });
  if (from === undefined || to === undefined) return;
  await mkdir(Buffer.from(to, "latin1"), { recursive: true });
  assertBeneath(target, parentOf(path));
  await copyTree({ source: from, target: to, only: nameOf(path), reflink: "auto" });
}
