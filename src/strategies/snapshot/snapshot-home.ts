import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { type BytePath, displayPath, nameOf, parentOf } from "../../model/byte-path.ts";
import { mkdirAt } from "../../platform/native/index.ts";
import { removeBeneath, statBeneath } from "../../tree/beneath.ts";
import { removeFolder } from "../../tree/remove-folders.ts";
import { withFolder, withRoot } from "../../tree/scan/open-directory.ts";
import type { SandboxPlace } from "../../tree/workspace.ts";
import { readAccepted, writeAccepted } from "./accepted-base.ts";
import { emptyOwn, holdsFew } from "./own-folders.ts";
import type { Snapshots } from "./snapshots.ts";

/** A workspace, or a checkpoint of one: a snapshot of what it is, one of what it was made from, and what was accepted. */
export interface Pair {
  readonly folder: BytePath;
  readonly tree: BytePath;
  readonly base: BytePath;
}

/** The pair in a folder. */
export function pairIn(folder: BytePath): Pair {
  return { folder, tree: `${folder}/tree` as BytePath, base: `${folder}/base` as BytePath };
}

/** Makes, keeps and removes the snapshots of one sandbox, all below its private folder. */
export class SnapshotHome {
  readonly #snapshots: Snapshots;

  constructor(snapshots: Snapshots) {
    this.#snapshots = snapshots;
  }

  /** A fresh workspace over the resource as it is now, in a folder that is made for it. */
  async makeFresh({ folder, tree, base }: Pair, place: SandboxPlace): Promise<void> {
    makeFolder(folder);
    await this.#take(place.root, tree, "writable");
    // A snapshot of a tree that was changed since it became one itself takes longer, the larger the tree. Nobody looks at
    // what the base has of our own folders, but whatever goes from them later is listed in every comparison.
    if (!holdsFew(tree, place)) emptyOwn(tree, place);
    await this.#take(tree, base, "frozen");
    emptyOwn(tree, place);
  }

  /** A copy of a workspace or checkpoint, in a folder that is made for it. */
  async copy(from: Pair, to: Pair, kind: "frozen" | "writable"): Promise<void> {
    makeFolder(to.folder);
    await this.#take(from.base, to.base, "frozen");
    await this.#take(from.tree, to.tree, kind);
    const accepted = readAccepted(from.folder);
    if (accepted.size > 0) await writeAccepted(to.folder, accepted);
  }

  /** Does something with a frozen look at a workspace. */
  async withLook<T>(pair: Pair, name: string, work: (look: string) => Promise<T>): Promise<T> {
    const look = `${pair.folder}/look-${name}` as BytePath;
    await this.#take(pair.tree, look, "frozen");
    try {
      return await work(displayPath(look));
    } finally {
      await this.#snapshots.remove(displayPath(look));
    }
  }

  /** Removes looks that were left by processes which died; nobody else looks meanwhile. */
  async removeLooks({ folder }: Pair): Promise<void> {
    const path = displayPath(folder);
    if (!existsSync(path)) return;
    for (const name of readdirSync(path).filter(isLook))
      await this.#snapshots.remove(`${path}/${name}`);
  }

  /** Removes a folder with the snapshots in it; gives what could not be removed. */
  async remove(folder: BytePath): Promise<string[]> {
    const path = displayPath(folder);
    if (!existsSync(path)) return [];
    for (const name of readdirSync(path)) {
      if (name === "tree" || name === "base" || isLook(name))
        await this.#snapshots.remove(`${path}/${name}`).catch(() => undefined);
    }
    return removeFolder(folder);
  }

  #take(source: BytePath, target: BytePath, kind: "frozen" | "writable"): Promise<void> {
    return this.#snapshots.take(displayPath(source), displayPath(target), kind);
  }
}

/**
 * A private folder inside of a workspace, at a path that is never shown: from here one can rename into it. It is there
 * from the beginning, so that it does not count as an edit; what a program put in its place is removed.
 */
export function spareIn(tree: BytePath, { exclude: [own] }: SandboxPlace): BytePath {
  if (own === undefined) throw new Error("the resource does not hold its own area");
  const found = statBeneath(tree, own);
  if (found?.type !== "directory") {
    if (found !== null) removeBeneath(tree, own);
    withRoot(tree, (fd) =>
      withFolder(fd, parentOf(own), (folder) => mkdirAt(folder, nameOf(own), 0o700)),
    );
  }
  return `${tree}/${own}` as BytePath;
}

function isLook(name: string): boolean {
  return name.startsWith("look-");
}

function makeFolder(folder: BytePath): void {
  mkdirSync(displayPath(folder), { recursive: true, mode: 0o700 });
}
