import { setImmediate } from "node:timers/promises";
import { addToList } from "../../model/add-to-list.ts";
import { type BytePath, displayPath, toBytePath } from "../../model/byte-path.ts";
import type { Change, ChangeKind, EntryState } from "../../model/change.ts";
import { compareText } from "../../model/compare-text.ts";
import { readBeneath, statBeneath } from "../../tree/beneath.ts";
import { hashFile } from "../../tree/content.ts";
import { publicPath } from "../../tree/public-path.ts";
import type { Blobs } from "./blobs.ts";
import { type GitEntry, LINK, type RawChange, SUBMODULE } from "./git-output.ts";
import type { Hindrance, Hindrances } from "./hindrances.ts";

const CHANGES_PER_TURN = 100;
const SHOWN_DIGITS = 12;

/** Who owns what a sandbox publishes; git itself keeps no owners. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** What describing needs besides the changes. */
export interface DescribeOptions {
  readonly blobs: Blobs;
  readonly owner: Owner;
  /** What a commit refuses. */
  readonly hindrances: Hindrances;
}

const HINDRANCE_NOTES: Readonly<Record<Hindrance, string>> = {
  unresolved: "conflict that is not resolved yet: a commit refuses it",
  inside: "another repository with edits inside: a commit refuses it",
  repository: "another repository: a commit refuses it",
};

/** The changes in their public form: modes as git knows them, content as it is in the files. */
export async function describeRaw(
  worktree: BytePath,
  changes: readonly RawChange[],
  { blobs, owner, hindrances }: DescribeOptions,
): Promise<Change[]> {
  const old = changes.flatMap(({ path, before }) => (before === null ? [] : [{ path, ...before }]));
  const contents = await blobs.describe(old);
  const renames = findRenames(changes);
  const described: Change[] = [];
  for (const [at, { path, before, after }] of changes.entries()) {
    if (at % CHANGES_PER_TURN === CHANGES_PER_TURN - 1) await setImmediate();
    const known = contents.get(path);
    const from = renames.from.get(path);
    const to = renames.to.get(path);
    const sides = {
      kind: kindOf(before, after),
      before: before && {
        ...ownedEntry(before, owner),
        ...(known ?? folderFacts(before)),
        mtimeNs: "0",
      },
      after: after && afterState(worktree, path, after, owner),
    };
    const hindrance = hindrances.get(path);
    const notes = [
      ...submoduleNotes(before, after),
      ...(before?.oid === after?.oid ? [] : storedNotes(sides)),
      ...(hindrance === undefined ? [] : [HINDRANCE_NOTES[hindrance]]),
    ];
    described.push({
      ...publicPath(path),
      ...sides,
      ...(notes.length > 0 && { notes }),
      ...(from !== undefined && { renamedFrom: displayPath(from) }),
      ...(to !== undefined && { renamedTo: displayPath(to) }),
    });
  }
  return described.sort((a, b) => compareText(a.path, b.path));
}

/** A submodule has no content but the commit that it is at. */
function folderFacts({ mode, oid }: GitEntry): Pick<EntryState, "size" | "hash" | "target"> {
  return { size: 0, hash: mode === SUBMODULE && oid !== "" ? oid : null, target: null };
}

/** What a reader cannot see from a folder: that it is a submodule, and at which commit. */
function submoduleNotes(before: GitEntry | null, after: GitEntry | null): string[] {
  const commits = [before, after].flatMap((side) =>
    side?.mode === SUBMODULE && side.oid !== "" ? [side.oid.slice(0, SHOWN_DIGITS)] : [],
  );
  return commits.length === 0 ? [] : [`submodule, commit ${[...new Set(commits)].join(" to ")}`];
}

/** A file may be the same in every checkout while git keeps it in another form, as after `git add --renormalize`. */
function storedNotes({ kind, before, after }: Pick<Change, "kind" | "before" | "after">): string[] {
  const isSame = before?.type === "file" && before.hash !== null && before.hash === after?.hash;
  return kind === "modified" && isSame ? ["only what git stores of it is changed"] : [];
}

/** What happened to a path, as git tells entries apart. */
export function kindOf(before: GitEntry | null, after: GitEntry | null): ChangeKind {
  if (before === null) return "added";
  if (after === null) return "deleted";
  if (before.mode.slice(0, 2) !== after.mode.slice(0, 2)) return "typeChanged";
  if (before.oid === after.oid) return before.mode === after.mode ? "modified" : "modeChanged";
  return after.mode === LINK ? "linkChanged" : "modified";
}

/** Type, mode and owner of an entry of git. */
export function ownedEntry(
  { mode }: GitEntry,
  { uid, gid }: Owner,
): Pick<EntryState, "type" | "mode" | "uid" | "gid"> {
  const isLink = mode === LINK;
  if (mode === SUBMODULE) return { type: "directory", mode: 0o755, uid, gid };
  const type = isLink ? "symlink" : mode.startsWith("100") ? "file" : "directory";
  return { type, mode: isLink ? 0o777 : Number.parseInt(mode.slice(-3), 8), uid, gid };
}

function afterState(
  worktree: BytePath,
  path: RawChange["path"],
  after: GitEntry,
  owner: Owner,
): EntryState {
  if (after.mode === SUBMODULE)
    return { ...ownedEntry(after, owner), ...folderFacts(after), mtimeNs: "0" };
  const present = statBeneath(worktree, path);
  const mtimeNs = (present?.mtimeNs ?? 0n).toString();
  if (after.mode === LINK) {
    // Where the repository has links as files (core.symlinks), their content is what they lead to.
    const target = present?.type === "file" ? toBytePath(readBeneath(worktree, path)) : null;
    const leadsTo = present?.target ?? target;
    const shown = leadsTo === null ? null : displayPath(leadsTo);
    return { ...ownedEntry(after, owner), size: 0, hash: null, target: shown, mtimeNs };
  }
  const isFile = present?.type === "file";
  return {
    ...ownedEntry(after, owner),
    size: isFile ? present.size : 0,
    hash: isFile ? hashFile(`${worktree}/${path}` as BytePath) : null,
    target: null,
    mtimeNs,
  };
}

/** Pairs removed and added files of the same content. */
function findRenames(changes: readonly RawChange[]): {
  readonly from: ReadonlyMap<BytePath, BytePath>;
  readonly to: ReadonlyMap<BytePath, BytePath>;
} {
  const removed = new Map<string, BytePath[]>();
  for (const { path, before, after } of changes) {
    if (before === null || after !== null) continue;
    addToList(removed, before.oid, path);
  }
  const from = new Map<BytePath, BytePath>();
  const to = new Map<BytePath, BytePath>();
  for (const { path, before, after } of changes) {
    const source = before === null && after !== null ? removed.get(after.oid)?.shift() : undefined;
    if (source === undefined) continue;
    from.set(path, source);
    to.set(source, path);
  }
  return { from, to };
}
