import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import * as coffer from "cofferdam";
import type { EntryState, PathInput, Resource, SandboxRef } from "cofferdam";

/** A state is a list of paths, and every content is kept once, under its hash: a checkpoint costs the list alone. */
export class ContentStoreStrategy implements coffer.SandboxStrategy {
  readonly capabilities = { isolation: "full", undoCommit: true, checkpoints: "native" } as const;
  readonly #host: coffer.StrategyHost;

  constructor(host: coffer.StrategyHost) {
    this.#host = host;
  }

  async create(planId: string, resource: Resource) {
    const { path, ownPaths = [] } = await this.#host.areaFor(resource.location);
    const store = join(path, `store-${this.#host.ids.next()}`);
    const ref = this.#host.newRef(planId, resource, { store, ownPaths });
    await mkdir(store, { mode: 0o700 });
    await this.#keep(ref, resource).catch(async (error: unknown) => {
      await this.cleanup(ref);
      throw error;
    });
    return ref;
  }

  async read(ref: SandboxRef, path: PathInput) {
    const { draft, contentOf } = await this.#open(ref);
    return contentOf(coffer.fileIn(draft, path));
  }

  async write(ref: SandboxRef, path: PathInput, content: Uint8Array | string) {
    const { base, draft } = await this.#open(ref);
    const next = coffer.withFile({ base, draft }, path, content);
    await coffer.saveContent(inside(ref, ""), content);
    await coffer.saveStates(inside(ref, "states"), { base, draft: next.draft });
    return { ...next.change, at: this.#host.clock.now().toISOString() };
  }

  async diff(ref: SandboxRef) {
    const { changes, contentOf } = await this.#open(ref);
    return coffer.diffViewOf(ref, changes, contentOf);
  }

  async commit(ref: SandboxRef, { message }: coffer.CommitOptions = {}) {
    const place = await this.#open(ref);
    await coffer.publishChanges(place.changes, place);
    const undoable = { possible: true, by: "the contents in the store" };
    const facts = { at: this.#host.clock.now(), message, undoable };
    return coffer.commitResultOf(ref, place.changes, facts);
  }

  async undoCommit(ref: SandboxRef) {
    const place = await this.#open(ref);
    await coffer.unpublishChanges(place.changes, place);
  }

  async rollback(ref: SandboxRef) {
    await this.#keep(ref, await this.#host.resourceOf(ref));
  }

  async checkpoint(ref: SandboxRef, checkpointId: string) {
    const states = await coffer.loadStates(inside(ref, "states"));
    await coffer.saveStates(inside(ref, `kept-${checkpointId}`), states);
  }

  async restoreCheckpoint(ref: SandboxRef, checkpointId: string) {
    const kept = await coffer.loadStates(inside(ref, `kept-${checkpointId}`));
    await coffer.saveStates(inside(ref, "states"), kept);
  }

  async cleanup(ref: SandboxRef) {
    await rm(inside(ref, ""), { recursive: true, force: true });
  }

  /** Takes the resource as it is for base and draft. */
  async #keep(ref: SandboxRef, { location }: Resource) {
    const exclude = ref.metadata["ownPaths"] as string[];
    const base = await coffer.readTreeState(location, { exclude });
    for (const [path, { hash }] of base) {
      if (hash === null) continue;
      await coffer.saveContent(inside(ref, ""), await coffer.readContent(location, path));
    }
    await coffer.saveStates(inside(ref, "states"), { base, draft: base });
  }

  async #open(ref: SandboxRef) {
    const { base, draft } = await coffer.loadStates(inside(ref, "states"));
    const { location } = await this.#host.resourceOf(ref);
    const contentOf = ({ hash }: EntryState) => readFile(inside(ref, hash));
    const changes = coffer.compareStates(base, draft);
    return { base, draft, changes, root: location, spare: inside(ref, ""), contentOf };
  }
}

function inside(ref: SandboxRef, name: string | null) {
  return join(ref.metadata["store"] as string, name ?? "");
}
