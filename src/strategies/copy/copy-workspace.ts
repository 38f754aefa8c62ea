import { readFile } from "node:fs/promises";
import type { CallOptions, ListedEntry } from "../../contract/strategy.ts";
import { type BytePath, type RelativePath, displayPath } from "../../model/byte-path.ts";
import type { DriftEntry } from "../../model/diff-view.ts";
import {
  assertBeneath,
  listBeneath,
  readBeneath,
  removeBeneath,
  renameBeneath,
  statBeneath,
  writeBeneath,
} from "../../tree/beneath.ts";
import { FIELD, FLAG } from "../../tree/scan/manifest.ts";
import { keepsSpecialBits } from "../../tree/special-bits.ts";
import type { ChangeSet } from "../../tree/tree-change.ts";
import type { Identity, TreeEntry } from "../../tree/tree-entry.ts";
import { workspaceHome } from "../../tree/strategy/place.ts";
import { runTask } from "../../tree/threads/pool.ts";
import type {
  BaseCheck,
  MadeWorkspace,
  OpenPlace,
  SandboxPlace,
  Workspace,
} from "../../tree/workspace.ts";
import { acceptBase } from "./accept-base.ts";
import { baseCheckBy } from "./base-check.ts";
import {
  checkpointFolders,
  forkCheckpoint,
  makeCheckpoint,
  removeCheckpoint,
  restoreCheckpoint,
} from "./checkpoint.ts";
import {
  type Generation,
  currentGeneration,
  readManifest,
  switchGeneration,
  writeManifest,
} from "./generation.ts";
import { makeHome } from "./home.ts";
import { type CopyMode, buildGeneration } from "./make-copy.ts";
import { rebaseManifest } from "./rebase-manifest.ts";
import { rebuild } from "./rebuild.ts";
import { takeBack } from "./take-back.ts";

/** A workspace that is a complete copy of the resource, by reflink or byte by byte. */
export class CopyWorkspace implements Workspace {
  readonly canLieElsewhere = true;
  readonly #mode: CopyMode;

  constructor(mode: CopyMode) {
    this.#mode = mode;
  }

  async create(place: SandboxPlace, options: CallOptions = {}): Promise<MadeWorkspace> {
    await makeHome(place);
    const made = await buildGeneration(place, 1, place.root, this.#mode, options.signal);
    await writeManifest(made.generation.folder, made.manifest);
    await switchGeneration(place, made.generation);
    return { metadata: made.metadata };
  }

  async recorded(place: OpenPlace, path: RelativePath): Promise<TreeEntry | null> {
    const manifest = readManifest((await this.#current(place)).folder);
    const record = manifest.find(path);
    const isCopied = record >= 0 && !manifest.has(record, FLAG.skipped);
    return isCopied ? manifest.baseEntry(record) : null;
  }

  async changes(place: OpenPlace): Promise<ChangeSet> {
    const generation = await this.#current(place);
    return runTask("compareTree", {
      workspace: generation.tree,
      root: place.root,
      manifest: await readFile(`${displayPath(generation.folder)}/manifest`),
      only: place.only,
      exclude: place.exclude,
    });
  }

  async drift(place: OpenPlace, set: ChangeSet): Promise<readonly DriftEntry[]> {
    const generation = await this.#current(place);
    return runTask("findDrift", {
      root: place.root,
      only: place.only,
      exclude: place.exclude,
      touched: set.changes.map(({ path }) => path),
      base: { manifest: await readFile(`${displayPath(generation.folder)}/manifest`) },
    });
  }

  async baseCheck(place: OpenPlace): Promise<BaseCheck> {
    const manifest = readManifest((await this.#current(place)).folder);
    return baseCheckBy((path) => {
      const record = manifest.find(path);
      return record < 0 ? null : manifest.baseEntry(record);
    });
  }

  async read(place: OpenPlace, path: RelativePath): Promise<Buffer> {
    return readBeneath((await this.#current(place)).tree, path);
  }

  async write(place: OpenPlace, path: RelativePath, content: Uint8Array): Promise<void> {
    writeBeneath((await this.#current(place)).tree, path, content, workspaceHome(place));
  }

  async stat(place: OpenPlace, path: RelativePath): Promise<TreeEntry | null> {
    const generation = await this.#current(place);
    const entry = statBeneath(generation.tree, path);
    const manifest = readManifest(generation.folder);
    const record = entry === null ? -1 : manifest.find(path);
    if (entry === null || record < 0 || entry.type === "symlink") return entry;
    const ino = BigInt(manifest.wide(record, FIELD.ino));
    const copied = { ino, mode: manifest.get(record, FIELD.copyMode) };
    const isOld = entry.type === "directory" || keepsSpecialBits(entry, copied);
    // As it would be published: what the copy itself could not carry counts as the base's.
    const kept = (field: number, copied: number, value: number): number =>
      manifest.get(record, copied) === value ? manifest.get(record, field) : value;
    return {
      ...entry,
      mode: isOld ? entry.mode | (manifest.get(record, FIELD.mode) & 0o7000) : entry.mode,
      uid: kept(FIELD.uid, FIELD.copyUid, entry.uid),
      gid: kept(FIELD.gid, FIELD.copyGid, entry.gid),
    };
  }

  async list(place: OpenPlace, path: RelativePath): Promise<readonly ListedEntry[]> {
    return listBeneath((await this.#current(place)).tree, path);
  }

  async remove(place: OpenPlace, path: RelativePath): Promise<void> {
    removeBeneath((await this.#current(place)).tree, path);
  }

  async rename(place: OpenPlace, from: RelativePath, to: RelativePath): Promise<void> {
    renameBeneath((await this.#current(place)).tree, from, to);
  }

  async path(place: OpenPlace): Promise<BytePath> {
    const { tree } = await this.#current(place);
    if (place.only === null) return tree;
    assertBeneath(tree, place.only as unknown as RelativePath);
    return `${tree}/${place.only}` as BytePath;
  }

  async quiesce(): Promise<void> {
    // A copy is an ordinary directory: staging clones from it, so programs may go on working there.
  }

  async discard(place: OpenPlace): Promise<{ readonly leftovers: readonly string[] }> {
    const old = await this.#current(place);
    await rebuild({ place, old, source: place.root, mode: this.#mode, checkpointId: null });
    return { leftovers: await runTask("removeFolder", old.folder) };
  }

  async rebase(place: OpenPlace, base: ReadonlyMap<RelativePath, Identity | null>): Promise<void> {
    const { folder } = await this.#current(place);
    // Checkpoints start from the same real entries.
    for (const kept of [folder, ...checkpointFolders(place)]) await rebaseManifest(kept, base);
  }

  async takeBack(place: OpenPlace, path: RelativePath, real: TreeEntry | null): Promise<void> {
    const { tree } = await this.#current(place);
    await takeBack(place, { tree, home: workspaceHome(place) }, path, real, this.#mode);
  }

  async acceptBase(...[place, base, whole]: Parameters<Workspace["acceptBase"]>): Promise<void> {
    await acceptBase(place, await this.#current(place), base, whole);
  }

  async checkpoint(place: OpenPlace, checkpointId: string): Promise<void> {
    await makeCheckpoint(place, await this.#current(place), checkpointId, this.#mode);
  }

  async restore(place: OpenPlace, checkpointId: string): Promise<void> {
    await restoreCheckpoint(place, await this.#current(place), checkpointId, this.#mode);
  }

  async fork(...[from, id, place, options]: Parameters<Workspace["fork"]>): Promise<void> {
    await makeHome(place);
    await forkCheckpoint(from, id, place, this.#mode, options?.signal);
  }

  async deleteCheckpoint(place: OpenPlace, checkpointId: string): Promise<void> {
    removeCheckpoint(place, checkpointId);
    return Promise.resolve();
  }

  async destroy(place: SandboxPlace): Promise<readonly string[]> {
    const [home, own] = [workspaceHome(place), place.directory];
    const elsewhere = home === own ? [] : await runTask("removeFolder", home);
    return [...elsewhere, ...(await runTask("removeBelow", own))];
  }

  async #current(place: SandboxPlace): Promise<Generation> {
    const generation = await currentGeneration(place);
    if (generation === null)
      throw new Error(`there is no workspace in ${displayPath(place.directory)}`);
    return generation;
  }
}
