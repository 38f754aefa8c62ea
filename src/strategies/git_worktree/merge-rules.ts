import type { RelativePath } from "../../model/byte-path.ts";
import { Blobs } from "./blobs.ts";
import { joinZero, splitZero } from "./git-output.ts";
import type { Git, GitCall } from "./git.ts";
import { worktreeHead } from "./history.ts";
import { inRepository } from "./repository.ts";
import type { Site } from "./site.ts";

/** How git merges a path. */
export interface MergeRule {
  /** Whether a conflict puts marks into the file, as they are. */
  readonly isMarked: boolean;
  readonly markerSize: number;
}

const MARKER_SIZE = 7;
/** git takes a file for binary that has a zero byte among so many at its beginning. */
const LOOKED_AT = 8000;
/** And one that is larger than it merges. */
const MOST_MERGED = 1023 << 20;
const TEXT_DRIVERS = new Set(["set", "text"]);
const ATTRIBUTES = ["merge", "conflict-marker-size", "working-tree-encoding", "filter"];
const NO_CONVERSION = new Set(["unspecified", "unset"]);

/**
 * By attributes and settings: a driver that somebody defined leaves whatever it likes, and what converts a file converts
 * the marks in it. Where a merge may have changed the attributes nobody knows by which of them git went.
 */
export async function mergeRules(
  git: Git,
  site: Site,
  call: GitCall,
  paths: readonly RelativePath[],
): Promise<Map<RelativePath, MergeRule>> {
  const asked = { ...inRepository(site.repository), accept: [0, 1] };
  const { stdout } = await git.ask(["config", "-z", "--get", "merge.default"], asked);
  const [fallback = "text"] = splitZero(stdout);
  const isSettled = await hasAttributesOfHead(git, site, call);
  const args = ["check-attr", "-z", "--stdin", ...ATTRIBUTES];
  const parts = splitZero(await git.run(args, { ...call, input: joinZero(paths) }));
  const valuesOf = (at: number): string[] =>
    ATTRIBUTES.map((_, which) => parts[(at * ATTRIBUTES.length + which) * 3 + 2] ?? "");
  return new Map(
    paths.map((path, at) => {
      const [driver = "", size = "", ...conversions] = valuesOf(at);
      const isText = TEXT_DRIVERS.has(driver === "unspecified" ? fallback : driver);
      const isPlain = conversions.every((conversion) => NO_CONVERSION.has(conversion));
      return [path, { isMarked: isSettled && isText && isPlain, markerSize: markerSizeOf(size) }];
    }),
  );
}

/** The shorter one of what older and newer git make of it, since longer marks are found as well. */
function markerSizeOf(attribute: string): number {
  const isNumber = /^[+-]?\d+$/.test(attribute) && Math.abs(Number(attribute)) < 2 ** 31;
  const size = Number(attribute);
  return Math.min(isNumber && size > 0 ? size : MARKER_SIZE, olderMarkerSize(attribute));
}

/** By `atoi`: the digits that it begins with, as far as they fit into 32 bits. */
function olderMarkerSize(attribute: string): number {
  const digits = BigInt(/^[+-]?\d+/.exec(attribute)?.[0] ?? 0);
  const isLong = BigInt.asIntN(64, digits) === digits;
  const size = isLong ? Number(BigInt.asIntN(32, digits)) : 0;
  return size > 0 ? size : MARKER_SIZE;
}

/** Whether every file of attributes is as in the commit that the worktree is at, and so was when git merged. */
async function hasAttributesOfHead(git: Git, site: Site, call: GitCall): Promise<boolean> {
  const head = await worktreeHead(git, site);
  if (head === null) return false;
  // Else a file would count as changed that somebody only wrote anew.
  await git.ask(["update-index", "-q", "--refresh"], { ...call, accept: [0, 1] });
  const args = ["diff-index", "--quiet", head, "--", ":(glob)**/.gitattributes"];
  const env = { ...call.env, GIT_LITERAL_PATHSPECS: "0" };
  return (await git.ask(args, { ...call, env, accept: [0, 1] })).exitCode === 0;
}

/** Those of the files that git takes for bytes, by id. */
export async function binariesAmong(
  git: Git,
  call: GitCall,
  files: readonly { readonly oid: string }[],
): Promise<Set<string>> {
  const found = new Set<string>();
  await new Blobs(git, call).visitStored(
    [...new Set(files.map(({ oid }) => oid))],
    (oid, content) => {
      const isLarge = content === null || content.length > MOST_MERGED;
      if (isLarge || content.subarray(0, LOOKED_AT).includes(0)) found.add(oid);
    },
  );
  return found;
}
