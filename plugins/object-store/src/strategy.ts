import { SandboxCreationError, SandboxError, createDiffView } from "cofferdam";
import type {
  CallOptions,
  Change,
  CommitOptions,
  CommitResult,
  DiffView,
  Json,
  ListedEntry,
  PathInput,
  ProbeResult,
  Resource,
  SandboxRef,
  SandboxStrategy,
  StrategyCapabilities,
  StrategyHost,
  TransactionPart,
} from "cofferdam";
import {
  abandonCommit,
  applyCommit,
  fenceCommit,
  forgetCommit,
  prepareCommit,
  reverseCommit,
} from "./commit-phases.ts";
import { removeObjects, renameObjects, writeObject } from "./edit-objects.ts";
import { Location } from "./location.ts";
import { type OpenSandbox, changeOf, unpublishedEdits } from "./open-sandbox.ts";
import { Place } from "./place.ts";
import { dropEdits, resolveEdits } from "./settle.ts";
import { ObjectStoreError } from "./store-error.ts";
import { type StoreSettings, mergeSettings, readSettings } from "./settings.ts";
import { Stores } from "./stores.ts";
import {
  abandonUndo,
  applyUndo,
  checkUndo,
  fenceUndo,
  forgetUndo,
  prepareUndo,
  reverseUndo,
} from "./undo-phases.ts";
import { View } from "./view.ts";

/**
 * Buckets of an S3-compatible server that keep old versions. A sandbox is a list of edits beside their contents; what is
 * not edited is read from the bucket as it is. A commit sends all contents where nobody sees them, and then makes each
 * the present version of its key; an undo removes these versions.
 */
export class ObjectStoreStrategy implements SandboxStrategy {
  readonly capabilities: StrategyCapabilities = {
    isolation: "full",
    undoCommit: true,
    prepare: true,
    pathCalls: true,
    checkpoints: "native",
    forks: true,
    drops: true,
    resolves: true,
    changeTracking: "exact",
    entries: "files",
  };
  readonly #host: StrategyHost;
  readonly #settings: StoreSettings;
  readonly #stores = new Stores();

  constructor(host: StrategyHost, options: Readonly<Record<string, unknown>> = {}) {
    this.#host = host;
    this.#settings = readSettings(options);
  }

  async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const location = Location.parse(resource.location);
    try {
      await this.#requireVersions(location, this.#settingsOf(resource));
    } catch (thrown) {
      throw thrown instanceof ObjectStoreError ? notMade(thrown) : thrown;
    }
    return this.#made(planId, resource);
  }

  async fork(source: SandboxRef, checkpointId: string, planId: string): Promise<SandboxRef> {
    const resource = await this.#host.resourceOf(source);
    return this.#made(planId, resource, { place: this.#placeOf(source.sandboxId), checkpointId });
  }

  async discardCreation(_planId: string, _resource: Resource, sandboxId: string): Promise<void> {
    await this.#placeOf(sandboxId).remove();
  }

  async read(ref: SandboxRef, path: PathInput): Promise<Uint8Array> {
    const sandbox = await this.#open(ref);
    const key = sandbox.location.keyOf(path);
    return (await View.of(sandbox)).read(key);
  }

  async write(ref: SandboxRef, path: PathInput, content: Uint8Array | string): Promise<Change> {
    const sandbox = await this.#open(ref);
    return writeObject(sandbox, sandbox.location.keyOf(path), Buffer.from(content));
  }

  async list(ref: SandboxRef, path: PathInput): Promise<readonly ListedEntry[]> {
    const sandbox = await this.#open(ref);
    const { location } = sandbox;
    return (await View.of(sandbox)).list(location.pathOf(location.keyOf(path)));
  }

  async remove(ref: SandboxRef, path: PathInput): Promise<void> {
    await removeObjects(await this.#open(ref), textOf(path));
  }

  async rename(ref: SandboxRef, from: PathInput, to: PathInput): Promise<void> {
    await renameObjects(await this.#open(ref), textOf(from), textOf(to));
  }

  async diff(ref: SandboxRef): Promise<DiffView> {
    const sandbox = await this.#open(ref);
    const { location, bucket, place } = sandbox;
    const edits = new Map(await unpublishedEdits(sandbox));
    const editOf = (path: string) => edits.get(`${location.prefix}${path}`);
    return createDiffView({
      sandboxId: ref.sandboxId,
      base: ref.baseFingerprintId,
      changes: [...edits].map(([key, edit]) => changeOf(location, key, edit)),
      readBefore: async ({ path }) => {
        const base = editOf(path)?.base ?? null;
        const key = `${location.prefix}${path}`;
        return base && ((await bucket.get(key, base.versionId))?.content ?? null);
      },
      readAfter: async ({ path }) => {
        const mine = editOf(path)?.mine ?? null;
        return mine && place.content(mine.hash);
      },
    });
  }

  async hasChanges(ref: SandboxRef): Promise<boolean> {
    return (await unpublishedEdits(await this.#open(ref))).length > 0;
  }

  commit(ref: SandboxRef, options?: CommitOptions): Promise<CommitResult> {
    return this.#host.commitAlone(this, ref, options);
  }

  async undoCommit(ref: SandboxRef, options?: CallOptions): Promise<void> {
    await this.#host.undoAlone(this, ref, options);
  }

  async checkUndo(ref: SandboxRef): Promise<void> {
    await checkUndo(await this.#open(ref));
  }

  async rollback(ref: SandboxRef): Promise<void> {
    await this.#placeOf(ref.sandboxId).clear();
  }

  async drop(ref: SandboxRef, paths: readonly PathInput[]): Promise<void> {
    await dropEdits(await this.#open(ref), paths);
  }

  async resolve(
    ref: SandboxRef,
    paths: readonly PathInput[],
    how: "mine" | "theirs" | "merge",
  ): Promise<void> {
    await resolveEdits(await this.#open(ref), paths, how);
  }

  async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await this.#placeOf(ref.sandboxId).keep(checkpointId);
  }

  async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await this.#placeOf(ref.sandboxId).restore(checkpointId);
  }

  async deleteCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await this.#placeOf(ref.sandboxId).dropCheckpoint(checkpointId);
  }

  async cleanup(ref: SandboxRef): Promise<void> {
    await this.#placeOf(ref.sandboxId).remove();
  }

  async prepare(ref: SandboxRef, tx: TransactionPart, options: CommitOptions = {}): Promise<Json> {
    const sandbox = await this.#open(ref);
    return tx.kind === "undo" ? prepareUndo(sandbox, tx) : prepareCommit(sandbox, tx, options);
  }

  async fence(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const sandbox = await this.#open(ref);
    await (tx.kind === "undo" ? fenceUndo(sandbox) : fenceCommit(sandbox, tx));
  }

  async commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    const sandbox = await this.#open(ref);
    return tx.kind === "undo" ? applyUndo(sandbox, tx) : applyCommit(sandbox, tx);
  }

  async abandonPrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const sandbox = await this.#open(ref);
    await (tx.kind === "undo" ? abandonUndo(sandbox, tx) : abandonCommit(sandbox, tx));
  }

  async reversePrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const sandbox = await this.#open(ref);
    await (tx.kind === "undo" ? reverseUndo(sandbox, tx) : reverseCommit(sandbox, tx));
  }

  async forget(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    const sandbox = await this.#open(ref);
    await (tx.kind === "undo" ? forgetUndo(sandbox) : forgetCommit(sandbox, tx));
  }

  /** Asks the server whether the bucket keeps old versions. */
  async probe(location?: string): Promise<ProbeResult> {
    if (location?.startsWith("s3://") !== true) {
      return { works: false, reason: "it is for buckets", hint: "Name one as s3://bucket." };
    }
    try {
      await this.#requireVersions(Location.parse(location), this.#settings);
      return { works: true, mode: "versions" };
    } catch (thrown) {
      const isKnown = thrown instanceof SandboxError;
      const reason = thrown instanceof Error ? thrown.message : "no answer";
      return { works: false, reason, ...(isKnown && thrown.hint && { hint: thrown.hint }) };
    }
  }

  /** Ends the connections that were kept for the next call. */
  async close(): Promise<void> {
    await this.#stores.close();
  }

  async #made(
    planId: string,
    resource: Resource,
    from?: { readonly place: Place; readonly checkpointId: string },
  ): Promise<SandboxRef> {
    const { sandboxId } = this.#host.newRef(planId, resource, {});
    const place = this.#placeOf(sandboxId);
    try {
      await place.make(from);
    } catch (thrown) {
      await place.remove();
      throw thrown;
    }
    return this.#host.newRef(planId, resource, { directory: place.folder });
  }

  /** Without old versions there would be no way back, and no way to tell who changed what. */
  async #requireVersions(location: Location, settings: StoreSettings): Promise<void> {
    const bucket = await this.#stores.bucket(settings, location.bucket);
    const isVersioned = await bucket.isVersioned();
    if (isVersioned === true) return;
    const state = isVersioned === "suspended" ? "has suspended its versions" : "keeps no versions";
    throw new SandboxCreationError(`The bucket ${location.bucket} ${state}`, {
      data: { stage: "versioning", residue: [] },
      operation: "create",
      hint: `aws s3api put-bucket-versioning --bucket ${location.bucket} --versioning-configuration Status=Enabled`,
    });
  }

  async #open(ref: SandboxRef): Promise<OpenSandbox> {
    const resource = await this.#host.resourceOf(ref);
    const settings = this.#settingsOf(resource);
    const location = Location.parse(resource.location);
    return {
      ref,
      location,
      place: this.#placeOf(ref.sandboxId),
      bucket: await this.#stores.bucket(settings, location.bucket),
      contentTypes: settings.contentTypes ?? {},
      now: () => this.#host.clock.now(),
    };
  }

  #settingsOf({ properties }: Resource): StoreSettings {
    return mergeSettings(this.#settings, readSettings(properties));
  }

  #placeOf(sandboxId: string): Place {
    return new Place(this.#host.stateDirectory, sandboxId);
  }
}

function notMade(cause: ObjectStoreError): SandboxCreationError {
  return new SandboxCreationError(`The bucket cannot be used: ${cause.message}`, {
    data: { stage: "server", residue: [] },
    operation: "create",
    hint: cause.hint ?? undefined,
    cause,
  });
}

function textOf(path: PathInput): string {
  return Buffer.from(path).toString("utf8");
}
