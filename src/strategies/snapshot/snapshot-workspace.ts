import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { rename } from "node:fs/promises";
import type { ListedEntry } from "../../contract/strategy.ts";
import { CheckpointError, SandboxCreationError } from "../../errors/index.ts";
import { syncFolder } from "../../journal/durable-file.ts";
import {
  type BytePath,
  type RelativePath,
  displayPath,
  toBytePath,
} from "../../model/byte-path.ts";
import type { DriftEntry } from "../../model/diff-view.ts";
import { takeBaseTime } from "../../tree/base-time.ts";
import {
  listBeneath,
  readBeneath,
  removeBeneath,
  renameBeneath,
  statBeneath,
  writeBeneath,
} from "../../tree/beneath.ts";
import { withAccepted } from "../../tree/scan/compare-snapshots.ts";
import { runTask } from "../../tree/threads/pool.ts";
import type { ChangeSet } from "../../tree/tree-change.ts";
import type { Identity, TreeEntry } from "../../tree/tree-entry.ts";
import type {
  BaseCheck,
  MadeWorkspace,
  OpenPlace,
  SandboxPlace,
  Workspace,
} from "../../tree/workspace.ts";
import { entriesBelow } from "../copy/accept-base.ts";
import { baseCheckBy } from "../copy/base-check.ts";
import {
  type Generation,
  currentGeneration,
  generationOf,
  noteGeneration,
  switchGeneration,
} from "../copy/generation.ts";
import { takeBack } from "../copy/take-back.ts";
import { baseEntry, readAccepted, rebaseAccepted, writeAccepted } from "./accepted-base.ts";
import { type Pair, SnapshotHome, pairIn, spareIn } from "./snapshot-home.ts";
import type { Snapshots } from "./snapshots.ts";

/** A workspace that is a writable snapshot of the resource, beside a frozen one of what it was made from. */
export class SnapshotWorkspace implements Workspace {
  readonly #snapshots: Snapshots;
  readonly #home: SnapshotHome;

  constructor(snapshots: Snapshots) {
    this.#snapshots = snapshots;
    this.#home = new SnapshotHome(snapshots);
  }

  async create(place: SandboxPlace): Promise<MadeWorkspace> {
    await this.#refuse(place);
    await this.#make(place, (pair) => this.#home.makeFresh(pair, place));
    return { metadata: { mode: "snapshot" } };
  }

  async changes(place: OpenPlace): Promise<ChangeSet> {
    const pair = await this.#current(place);
    return runTask("compareSnapshots", {
      workspace: pair.tree,
      base: pair.base,
      touched: await this.#touched(pair),
      accepted: readAccepted(pair.folder),
      root: place.root,
      exclude: place.exclude,
    });
  }

  async drift(place: OpenPlace, set: ChangeSet): Promise<readonly DriftEntry[]> {
    const { base, folder } = await this.#current(place);
    const { root, only, exclude } = place;
    const bytes = await runTask("recordTree", { root: base, only, exclude });
    return runTask("findDrift", {
      root,
      only,
      exclude,
      touched: set.changes.map(({ path }) => path),
      base: { manifest: withAccepted(bytes, readAccepted(folder)) },
    });
  }

  async recorded(place: OpenPlace, path: RelativePath): Promise<TreeEntry | null> {
    const { base, folder } = await this.#current(place);
    return baseEntry(base, readAccepted(folder), path);
  }

  async baseTree(place: OpenPlace): Promise<BytePath> {
    return (await this.#current(place)).base;
  }

  async baseCheck(place: OpenPlace): Promise<BaseCheck> {
    const { base, folder } = await this.#current(place);
    const accepted = readAccepted(folder);
    return baseCheckBy((path) => baseEntry(base, accepted, path));
  }

  async read(place: OpenPlace, path: RelativePath): Promise<Buffer> {
    return readBeneath(await this.path(place), path);
  }

  async write(place: OpenPlace, path: RelativePath, content: Uint8Array): Promise<void> {
    const tree = await this.path(place);
    writeBeneath(tree, path, content, spareIn(tree, place));
  }

  async stat(place: OpenPlace, path: RelativePath): Promise<TreeEntry | null> {
    return statBeneath(await this.path(place), path);
  }

  async list(place: OpenPlace, path: RelativePath): Promise<readonly ListedEntry[]> {
    const entries = listBeneath(await this.path(place), path);
    const hidden = place.exclude.map((own) => displayPath(own));
    const prefix = path === "" ? "" : `${displayPath(path)}/`;
    return entries.filter(({ name }) => !hidden.includes(`${prefix}${name}`));
  }

  async remove(place: OpenPlace, path: RelativePath): Promise<void> {
    removeBeneath(await this.path(place), path);
  }

  async rename(place: OpenPlace, from: RelativePath, to: RelativePath): Promise<void> {
    renameBeneath(await this.path(place), from, to);
  }

  async path(place: OpenPlace): Promise<BytePath> {
    return (await this.#current(place)).tree;
  }

  /** Staging clones from the snapshot, so programs may go on working there. */
  async quiesce(place: OpenPlace): Promise<void> {
    // There is none any more when a clean-up was interrupted.
    const generation = await currentGeneration(place);
    if (generation !== null) await this.#home.removeLooks(pairIn(generation.folder));
  }

  async discard(place: OpenPlace): Promise<{ readonly leftovers: readonly string[] }> {
    return { leftovers: await this.#replace(place, (pair) => this.#home.makeFresh(pair, place)) };
  }

  async rebase(place: OpenPlace, base: ReadonlyMap<RelativePath, Identity | null>): Promise<void> {
    // Checkpoints start from the same real entries.
    for (const pair of [await this.#current(place), ...checkpointsOf(place)])
      await rebaseAccepted(pair.folder, pair.base, base);
  }

  async takeBack(place: OpenPlace, path: RelativePath, real: TreeEntry | null): Promise<void> {
    const { tree } = await this.#current(place);
    await takeBack(place, { tree, home: spareIn(tree, place) }, path, real, "auto");
  }

  async acceptBase(...[place, base, whole]: Parameters<Workspace["acceptBase"]>): Promise<void> {
    const { folder } = await this.#current(place);
    const below = whole.flatMap((path) => entriesBelow(place, path));
    await writeAccepted(folder, new Map([...readAccepted(folder), ...base, ...below]));
  }

  async checkpoint(place: OpenPlace, checkpointId: string): Promise<void> {
    const building = `${place.directory}/b-${checkpointId}` as BytePath;
    await this.#home.remove(building);
    try {
      await this.#home.copy(await this.#current(place), pairIn(building), "frozen");
      await rename(displayPath(building), displayPath(checkpointFolder(place, checkpointId)));
      await syncFolder(displayPath(place.directory));
    } catch (error) {
      await this.#home.remove(building);
      throw error;
    }
  }

  async restore(place: OpenPlace, checkpointId: string): Promise<void> {
    const kept = requireCheckpoint(place, checkpointId);
    await this.#replace(place, (pair) => this.#home.copy(kept, pair, "writable"));
  }

  async fork(...[from, id, place]: Parameters<Workspace["fork"]>): Promise<void> {
    const kept = requireCheckpoint(from, id);
    await this.#make(place, (pair) => this.#home.copy(kept, pair, "writable"));
  }

  async deleteCheckpoint(place: OpenPlace, checkpointId: string): Promise<void> {
    await this.#home.remove(checkpointFolder(place, checkpointId));
  }

  async destroy(place: SandboxPlace): Promise<readonly string[]> {
    for (const name of namesIn(place)) {
      if (/^(?:g\d+|[bc]-.+)$/.test(name))
        await this.#home.remove(`${place.directory}/${name}` as BytePath);
    }
    return runTask("removeBelow", place.directory);
  }

  /** Where a workspace may differ from its base; null where the file system cannot tell. */
  async #touched(pair: Pair): Promise<readonly RelativePath[] | null> {
    const { touchedPaths } = this.#snapshots;
    if (touchedPaths === undefined) return null;
    const name = randomBytes(8).toString("hex");
    const paths = await this.#home.withLook(pair, name, (look) =>
      touchedPaths(displayPath(pair.base), look),
    );
    return paths.map((path) => toBytePath(Buffer.from(path)) as RelativePath);
  }

  /** Builds the first workspace. Nobody relies on it yet: whatever is left after a failure goes with the sandbox. */
  async #make(place: SandboxPlace, build: (pair: Pair) => Promise<void>): Promise<void> {
    const generation = generationOf(place, 1);
    // The snapshots bring it to the disk with them.
    noteGeneration(place, generation);
    await this.#build(generation, build);
  }

  /** Builds a workspace and makes it the one that counts; on failure nothing of it remains, and nothing else changes. */
  async #replace(place: OpenPlace, build: (pair: Pair) => Promise<void>): Promise<string[]> {
    const old = await currentGeneration(place);
    if (old === null) throw new Error(`there is no workspace in ${displayPath(place.directory)}`);
    const generation = generationOf(place, old.number + 1);
    await this.#home.remove(generation.folder);
    try {
      await this.#build(generation, build);
    } catch (error) {
      await this.#home.remove(generation.folder);
      throw error;
    }
    await switchGeneration(place, generation);
    return this.#home.remove(old.folder);
  }

  async #build({ folder }: Generation, build: (pair: Pair) => Promise<void>): Promise<void> {
    await build(pairIn(folder));
    // Whatever others edit from now on has a later change time than anything in the snapshot.
    takeBaseTime(folder);
  }

  async #refuse({ root, only, resource }: SandboxPlace): Promise<void> {
    const refusal =
      only === null
        ? await this.#snapshots.refusal(displayPath(root))
        : { reason: "it is a single file", hint: "Name the folder that it lies in." };
    if (refusal === null) return;
    throw new SandboxCreationError(
      `No snapshot can be taken of ${resource.location}: ${refusal.reason}`,
      {
        operation: "create",
        resourceId: resource.resourceId,
        data: { stage: "snapshot", residue: [] },
        hint: refusal.hint,
      },
    );
  }

  async #current(place: SandboxPlace): Promise<Pair> {
    const generation = await currentGeneration(place);
    if (generation === null)
      throw new Error(`there is no workspace in ${displayPath(place.directory)}`);
    return pairIn(generation.folder);
  }
}

function checkpointFolder(place: SandboxPlace, id: string): BytePath {
  return `${place.directory}/c-${id}` as BytePath;
}

function checkpointsOf(place: SandboxPlace): Pair[] {
  return namesIn(place)
    .filter((name) => name.startsWith("c-"))
    .map((name) => pairIn(`${place.directory}/${name}` as BytePath));
}

function requireCheckpoint(place: SandboxPlace, checkpointId: string): Pair {
  const pair = pairIn(checkpointFolder(place, checkpointId));
  if (statBeneath(pair.folder, "tree" as RelativePath) !== null) return pair;
  throw new CheckpointError(`The checkpoint ${checkpointId} is damaged`, {
    operation: "restoreCheckpoint",
    data: { checkpointId, reason: "damaged" },
  });
}

/** What lies in the folder of a sandbox; nothing once it is removed. */
function namesIn(place: SandboxPlace): string[] {
  const path = displayPath(place.directory);
  return existsSync(path) ? readdirSync(path) : [];
}
