import { changedPathBytes, createDiffView } from "../../contract/diff-view.ts";
import type { Clock } from "../../contract/host.ts";
import { type RelativePath, toBytePath } from "../../model/byte-path.ts";
import type { Change } from "../../model/change.ts";
import type { DiffView, DriftEntry } from "../../model/diff-view.ts";
import { readBeneath, refuseOverwrite, statBeneath, writeBeneath } from "../../tree/beneath.ts";
import { publicPath } from "../../tree/public-path.ts";
import { type SizedFile, BlobsInTurn } from "./blobs-in-turn.ts";
import { Blobs, sha256 } from "./blobs.ts";
import { type Owner, describeRaw, kindOf, ownedEntry } from "./describe-changes.ts";
import type { OpenSite } from "./git-commit.ts";
import {
  FILE,
  type GitEntry,
  type RawChange,
  SUBMODULE,
  parseIndexEntry,
  parseRaw,
  splitZero,
} from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import type { ToldHindrances } from "./hindrances.ts";
import { countCommits, editBase } from "./history.ts";
import { recordWorktree, withScratchObjects } from "./record-worktree.ts";
import { privately, worktreePath } from "./site.ts";
import { countStrayCommits } from "./stray-commits.ts";

/** A repository that nobody has told git of: at which commit it is does not count. */
const UNKNOWN_REPOSITORY: GitEntry = { mode: SUBMODULE, oid: "" };

/** How a sandbox is looked at. */
export interface LookOptions {
  /** A name for private files that no other call has. */
  readonly name: string;
  /** Patterns of paths that stay in the sandbox. */
  readonly exclude: readonly string[];
  readonly signal?: AbortSignal;
}

/** The edits of a sandbox. */
export interface FoundEdits {
  /** The commit that they are edits of: the one that the merge of a commit starts from. */
  readonly base: string;
  readonly changes: readonly Change[];
  readonly raw: readonly RawChange[];
  /** How many commits of the worktree are published with them. */
  readonly commits: number;
  /** How many are not, since what a commit publishes does not continue them. */
  readonly strayCommits: number;
  /** Those that a commit refuses. */
  readonly hindrances: ToldHindrances["hindrances"];
  /** Unresolved conflicts of which there is nothing, neither in the base nor in the worktree. */
  readonly vanished: ReadonlySet<RelativePath>;
}

/** The changes of a sandbox as a commit would publish them, in their public form. */
export async function describeSite(
  git: Git,
  site: OpenSite,
  { name, exclude, signal }: LookOptions,
): Promise<FoundEdits> {
  return withScratchObjects(site, name, async (objects) => {
    const { tree, index, told } = await recordWorktree(git, site, {
      name,
      objects,
      exclude,
      isLook: true,
      ...(signal && { signal }),
    });
    const call = privately(site, { index, objects });
    const base = await editBase(git, site, tree);
    const args = ["diff-tree", "-r", "-z", "--raw", "--no-renames", base, tree];
    const edits = parseRaw(await git.run(args, call));
    const alone = await hinderedAlone(git, call, told, edits);
    const raw = [...edits, ...alone];
    const vanished = new Set(alone.flatMap(({ path, after }) => (after === null ? path : [])));
    const { hindrances } = told;
    const blobs = new Blobs(git, call);
    const owner = ownerOf(site);
    const changes = await describeRaw(worktreePath(site), raw, { blobs, owner, hindrances });
    const commits = await countCommits(git, site, { call, tree, hasEdits: edits.length > 0 });
    const strayCommits = await countStrayCommits(git, site, call, commits);
    return { base, raw, changes, commits, strayCommits, hindrances, vanished };
  });
}

/**
 * What a commit refuses at paths without another edit: the same on both sides, a repository that is new there, or a
 * conflict of which only git's index still tells.
 */
async function hinderedAlone(
  git: Git,
  call: GitCall,
  { hindrances, shown }: ToldHindrances,
  edits: readonly RawChange[],
): Promise<RawChange[]> {
  const alone = new Map(hindrances);
  for (const { path } of edits) alone.delete(path);
  if (alone.size === 0) return [];
  const found: RawChange[] = [];
  for (const line of splitZero(await git.run(["ls-files", "-s", "-z"], call))) {
    const { path, mode, oid } = parseIndexEntry(line);
    if (alone.delete(path)) found.push({ path, before: { mode, oid }, after: { mode, oid } });
  }
  for (const [path, hindrance] of alone) {
    const side = shown.get(path);
    if (hindrance === "unresolved" && side !== undefined)
      found.push({ path, before: { mode: side.mode, oid: side.oid }, after: null });
    if (hindrance === "repository") found.push({ path, before: null, after: UNKNOWN_REPOSITORY });
  }
  return found;
}

/** The whole diff of a sandbox; content for text is read only when asked for. */
export function diffSite(
  git: Git,
  site: OpenSite,
  found: FoundEdits,
  drift?: readonly DriftEntry[],
): DiffView {
  const before = new BlobsInTurn(new Blobs(git, baseCall(site)), filesBefore(found));
  return createDiffView({
    sandboxId: site.place.ref.sandboxId,
    base: site.place.ref.baseFingerprintId,
    changes: found.changes,
    ...(found.commits > 0 && { commits: found.commits }),
    ...(found.strayCommits > 0 && { strayCommits: found.strayCommits }),
    ...(drift !== undefined && { drift }),
    readBefore: (change) => before.read(pathOf(change)),
    readAfter: (change) => Promise.resolve(readBeneath(worktreePath(site), pathOf(change))),
  });
}

/** What the changed files were, in the order of the changes. */
function filesBefore({ raw, changes }: FoundEdits): SizedFile[] {
  const entries = new Map(raw.map(({ path, before }) => [path, before]));
  return changes.flatMap((change) => {
    const path = pathOf(change);
    const entry = entries.get(path) ?? null;
    if (entry === null || !entry.mode.startsWith(FILE)) return [];
    return [{ entry: { path, ...entry }, size: change.before?.size ?? 0 }];
  });
}

function pathOf(change: Change): RelativePath {
  return toBytePath(changedPathBytes(change)) as RelativePath;
}

/** Writes a file into the worktree and tells the change against the base. Identical content is no write at all. */
export async function writeSite(
  git: Git,
  site: OpenSite,
  path: RelativePath,
  content: Uint8Array,
  clock: Clock,
): Promise<Change> {
  const root = worktreePath(site);
  const at = clock.now().toISOString();
  const present = statBeneath(root, path);
  refuseOverwrite(path, present);
  const owner = ownerOf(site);
  const mode = present !== null && (present.mode & 0o100) !== 0 ? "100755" : "100644";
  const hash = sha256(content);
  const isSame = present?.size === content.length && readBeneath(root, path).equals(content);
  if (!isSame) writeBeneath(root, path, content, site.place.directory);
  const after = {
    ...ownedEntry({ mode, oid: "" }, owner),
    size: content.length,
    hash,
    target: null,
    mtimeNs: (statBeneath(root, path)?.mtimeNs ?? 0n).toString(),
  };
  if (isSame) return { ...publicPath(path), kind: "unchanged", before: after, after, at };
  const base = await baseEntry(git, site, path);
  const facts =
    base === null ? null : (await new Blobs(git, baseCall(site)).describe([base])).get(path);
  const before =
    base === null || facts == null ? null : { ...ownedEntry(base, owner), ...facts, mtimeNs: "0" };
  const isBase = before?.hash === hash && base?.mode === mode;
  const isContent = before !== null && before.hash === hash;
  const kind = isBase
    ? "unchanged"
    : kindOf(base, { mode, oid: isContent && base !== null ? base.oid : "" });
  return { ...publicPath(path), kind, before, after, at };
}

async function baseEntry(
  git: Git,
  site: OpenSite,
  path: RelativePath,
): Promise<(GitEntry & { readonly path: RelativePath }) | null> {
  const commit = await editBase(git, site);
  const call = baseCall(site);
  // The name may not be UTF-8: every entry of its folder is read, and the one is picked out.
  const cut = path.lastIndexOf("/");
  const folder = cut < 0 ? "" : path.slice(0, cut);
  const tree = await folderTree(git, call, `${commit}^{tree}`, folder);
  if (tree === null) return null;
  const name = path.slice(cut + 1);
  for (const line of splitZero(await git.run(["ls-tree", "-z", tree], call))) {
    const [, mode = "", oid = "", found = ""] = /^(\d{6}) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
    if (found === name && mode !== "040000") return { path, mode, oid };
  }
  return null;
}

async function folderTree(
  git: Git,
  call: GitCall,
  top: string,
  folder: string,
): Promise<string | null> {
  let tree = top;
  for (const part of folder === "" ? [] : folder.split("/")) {
    const lines = splitZero(await git.run(["ls-tree", "-z", "-d", tree], call));
    const found = lines.find((line) => line.slice(line.indexOf("\t") + 1) === part);
    const oid = /^040000 tree ([0-9a-f]+)\t/.exec(found ?? "")?.[1];
    if (oid === undefined) return null;
    tree = oid;
  }
  return tree;
}

function baseCall(site: OpenSite): GitCall {
  return privately(site, { index: `${site.admin}/index` });
}

/** git keeps no owners: both sides are told as belonging to whoever has the checkout. */
function ownerOf({ place }: OpenSite): Owner {
  const top = statBeneath(place.root, "" as RelativePath);
  return { uid: top?.uid ?? 0, gid: top?.gid ?? 0 };
}
