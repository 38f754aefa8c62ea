import { createHash, randomBytes } from "node:crypto";
import { writeSync } from "node:fs";
import { reverseChanges } from "../../contract/compare-states.ts";
import { changedPathBytes } from "../../contract/diff-view.ts";
import {
  type BytePath,
  type RelativePath,
  ROOT,
  displayPath,
  nameOf,
  parentOf,
  toBytePath,
} from "../../model/byte-path.ts";
import type { Change, EntryState } from "../../model/change.ts";
import { compareText } from "../../model/compare-text.ts";
import {
  OPEN,
  close,
  fsync,
  futimens,
  mkdirAt,
  openAt,
  renameAt,
  rmdirAt,
  symlinkAt,
  throwUnlessErrno,
  unlinkAt,
} from "../../platform/native/index.ts";
import { type EntryAttributes, setAttributes, setLinkAttributes } from "../entry-attributes.ts";
import { findEntry } from "../read-entry.ts";
import { openRoot, withFolder } from "../scan/open-directory.ts";
import { refuseConflicts, refuseForeignEdits } from "./refuse-conflicts.ts";
import type { TreeState } from "./tree-state.ts";

/** Where changes are published, and with what. */
export interface PublishPlace {
  /** The directory that is changed. */
  readonly root: string;
  /** A private folder on the same file system, in which files are made complete before they are moved. */
  readonly spare: string;
  /** The content of a file in this state. */
  readonly contentOf: (state: EntryState) => Promise<Uint8Array>;
  /** What the changes start from. */
  readonly base: TreeState;
}

/**
 * Makes a directory what the changes say, and has it on the disk when it returns. A file is the old or the new one at
 * any moment, never half; all of them together are not: keep what `unpublishChanges` needs. No link is followed.
 * @throws SandboxConflictError when the directory is not what the changes start from; nothing was touched.
 */
export async function publishChanges(
  changes: readonly Change[],
  place: PublishPlace,
): Promise<void> {
  await refuseConflicts(place.root, changes);
  await apply(changes, place, new Map());
}

/**
 * Takes published changes back, all of them or as many as a crash let through; may be repeated.
 * @throws SandboxRollbackError when somebody changed one of the entries since; nothing was touched.
 */
export async function unpublishChanges(
  changes: readonly Change[],
  place: PublishPlace,
): Promise<void> {
  await refuseForeignEdits(place.root, changes);
  await apply(reverseChanges(changes), place, place.base);
}

/** What is done already is recognised. The folders around the changes get the times of `around`. */
async function apply(
  changes: readonly Change[],
  { root, spare, contentOf }: PublishPlace,
  around: TreeState,
): Promise<void> {
  using place = new Place(toBytePath(root), toBytePath(spare));
  const ordered = changes
    .map((change) => ({ change, path: pathOf(change) }))
    .sort((a, b) => compareText(a.path, b.path));
  for (const { change, path } of ordered.toReversed()) place.makeRoom(path, change);
  for (const { change, path } of ordered) {
    const { before, after } = change;
    const hasContent = after?.type === "file" && before?.hash !== after.hash;
    place.put(path, change, hasContent ? proven(change, after, await contentOf(after)) : null);
  }
  const folders = [...new Set(ordered.map(({ path }) => parentOf(path)))].sort(compareText);
  for (const folder of folders.toReversed()) {
    const state = around.get(displayPath(folder));
    place.finish(folder, (fd) => {
      if (state !== undefined) futimens(fd, null, BigInt(state.mtimeNs));
    });
  }
  for (const { path, change } of ordered.toReversed()) {
    const { after } = change;
    if (after?.type !== "directory") continue;
    place.finish(path, (fd) => setAttributes(fd, attributesOf(after)));
  }
}

/** The content, if it is the one that the state speaks of: a store that lost it must not be believed. */
function proven({ path }: Change, { hash }: EntryState, content: Uint8Array): Uint8Array {
  if (createHash("sha256").update(content).digest("hex") === hash) return content;
  throw new Error(`the content that was kept for ${path} is not the one that was written`);
}

function pathOf(change: Change): RelativePath {
  return toBytePath(changedPathBytes(change)) as RelativePath;
}

class Place implements Disposable {
  readonly #rootFd: number;
  readonly #spareFd: number;

  constructor(root: BytePath, spare: BytePath) {
    this.#rootFd = openRoot(root);
    this.#spareFd = openRoot(spare);
  }

  [Symbol.dispose](): void {
    close(this.#rootFd);
    close(this.#spareFd);
  }

  /** Takes away what does not stay at a path: all of it, or what cannot be replaced in one step. */
  makeRoom(path: RelativePath, { before, after }: Change): void {
    if (before === null || before.type === after?.type) return;
    ignoringGone(() =>
      withFolder(this.#rootFd, parentOf(path), (fd) => {
        const name = nameOf(path);
        if (findEntry(fd, name)?.type !== before.type) return;
        if (before.type === "directory") rmdirAt(fd, name);
        else unlinkAt(fd, name);
      }),
    );
  }

  /** Puts the new entry at its path; without content the file that is there gets its attributes. */
  put(path: RelativePath, { after }: Change, content: Uint8Array | null): void {
    if (after === null || after.type === "special" || path === ROOT) return;
    const [folder, name] = [parentOf(path), nameOf(path)];
    withFolder(this.#rootFd, folder, (fd) => {
      if (after.type === "directory") makeFolder(fd, name);
      else if (after.type === "symlink") this.#putLink(fd, name, after);
      else if (content !== null) this.#putFile(fd, name, after, content);
      else withEntry(fd, name, (entryFd) => setAttributes(entryFd, attributesOf(after)));
    });
  }

  /** Gives a folder what it must have in the end, and syncs it; one that is gone needs nothing. */
  finish(path: RelativePath, work: (fd: number) => void): void {
    ignoringGone(() =>
      withFolder(this.#rootFd, path, (fd) => {
        work(fd);
        fsync(fd);
      }),
    );
  }

  #putFile(folderFd: number, name: string, after: EntryState, content: Uint8Array): void {
    const temporary = temporaryName();
    const flags = OPEN.writeOnly | OPEN.create | OPEN.exclusive;
    const fd = openAt(this.#spareFd, temporary, flags, 0o600);
    try {
      for (let at = 0; at < content.length;) at += writeSync(fd, content, at);
      setAttributes(fd, attributesOf(after));
      fsync(fd);
      renameAt(this.#spareFd, temporary, folderFd, name);
    } catch (error) {
      unlinkAt(this.#spareFd, temporary);
      throw error;
    } finally {
      close(fd);
    }
  }

  #putLink(folderFd: number, name: string, after: EntryState): void {
    const temporary = temporaryName();
    symlinkAt(toBytePath(after.target ?? ""), this.#spareFd, temporary);
    setLinkAttributes(this.#spareFd, temporary, attributesOf(after));
    renameAt(this.#spareFd, temporary, folderFd, name);
  }
}

/** What is not there, or not in a folder any more, was taken away before. A link is never followed. */
function ignoringGone(work: () => void): void {
  try {
    work();
  } catch (error) {
    throwUnlessErrno(error, "ENOENT", "ENOTDIR", "ELOOP");
  }
}

function makeFolder(folderFd: number, name: string): void {
  try {
    mkdirAt(folderFd, name, 0o700);
  } catch (error) {
    throwUnlessErrno(error, "EEXIST");
  }
}

function withEntry(folderFd: number, name: string, work: (fd: number) => void): void {
  const fd = openAt(folderFd, name, OPEN.readOnly | OPEN.noFollow | OPEN.nonBlocking);
  try {
    work(fd);
    fsync(fd);
  } finally {
    close(fd);
  }
}

function attributesOf({ mode, uid, gid, mtimeNs, xattrs }: EntryState): EntryAttributes {
  const decoded = Object.entries(xattrs ?? {}).map(
    ([name, value]) => [name, Buffer.from(value, "base64").toString("latin1")] as const,
  );
  const attributes = { mode, uid, gid, atimeNs: null, mtimeNs: BigInt(mtimeNs) };
  return { ...attributes, xattrs: Object.fromEntries(decoded) };
}

function temporaryName(): string {
  return `publish-${randomBytes(12).toString("hex")}`;
}
