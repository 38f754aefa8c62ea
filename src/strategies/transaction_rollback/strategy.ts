import { isAbsolute } from "node:path";
import type { StrategyCapabilities } from "../../contract/capabilities.ts";
import type { StrategyHost } from "../../contract/host.ts";
import type {
  CallOptions,
  CommitOptions,
  ProbeResult,
  RemovalOptions,
  SandboxAddress,
  SandboxCopy,
  SandboxStrategy,
  TransactionPart,
} from "../../contract/strategy.ts";
import { SandboxError, describeThrown } from "../../errors/index.ts";
import { type PathInput, toBytePath } from "../../model/byte-path.ts";
import type { Change } from "../../model/change.ts";
import type { CommitResult } from "../../model/commit-result.ts";
import type { DiffView } from "../../model/diff-view.ts";
import type { Resource } from "../../model/resource.ts";
import type { Json, SandboxRef } from "../../model/sandbox-ref.ts";
import { notAsReviewed } from "../../tree/strategy/commit-errors.ts";
import type { DatabaseClones } from "./clones.ts";
import { beginClone, dropClones, dropLent, endClone, giveClonesUp } from "./command-clone.ts";
import { beginCopy, endCopy } from "./command-copy.ts";
import type { OpenDatabase } from "./commit-record.ts";
import { DatabaseCommit } from "./database-commit.ts";
import { DecidingCommit } from "./deciding-commit.ts";
import type { DatabaseEngine, ServerFacts } from "./engine.ts";
import { asDatabaseError } from "./errors.ts";
import { notText } from "./sql/statement-errors.ts";
import type { LoggedWrite } from "./log-entry.ts";
import { IdlePools } from "./idle-pools.ts";
import { leaveServer } from "./leave-server.ts";
import { openEngine } from "./open-engine.ts";
import { DatabasePlace } from "./place.ts";
import { canPrepare, connectionOf, isFile } from "./ref-facts.ts";
import { contentState, hasEffects } from "./row-changes.ts";
import { diffOf } from "./row-diff.ts";

/**
 * SQL databases. A sandbox is a durable log of statements and of what each did to every row. Every call shows the
 * database as the log leaves it, in a transaction that is rolled back when the call ends, so that nothing holds locks
 * between calls; a commit applies the log once more and prepares it.
 */
export class TransactionRollbackStrategy implements SandboxStrategy {
  readonly capabilities: StrategyCapabilities = {
    isolation: "full",
    undoCommit: true,
    prepare: true,
    queries: true,
    checkpoints: "native",
    forks: true,
    changeTracking: "exact",
  };
  /** How clones are made for commands; without it a database of a server is out of their reach. */
  protected readonly clones: DatabaseClones | null = null;
  protected readonly host: StrategyHost;
  readonly #engines = new Map<string, DatabaseEngine>();
  readonly #idle = new IdlePools();
  readonly #commits: DatabaseCommit;
  readonly #deciding: DecidingCommit;

  constructor(host: StrategyHost) {
    this.host = host;
    this.#commits = new DatabaseCommit(host);
    this.#deciding = new DecidingCommit(host);
  }

  capabilitiesOf(ref: SandboxRef): StrategyCapabilities {
    const copies = isFile(ref) || this.#clonesOf(ref) !== null;
    if (canPrepare(ref)) return { ...this.capabilities, copies };
    const decides = groupOf(ref) ?? { group: `database ${ref.baseFingerprintId}`, max: 1 };
    return { ...this.capabilities, prepare: false, outcome: true, decides, copies };
  }

  async create(planId: string, resource: Resource): Promise<SandboxRef> {
    const facts = await this.#inspect(resource.location);
    const { engine, version, database, identity, canPrepare, decides } = facts;
    const ref = this.#newRef(planId, resource, identity, {
      connection: resource.location,
      engine,
      version,
      database,
      canPrepare,
      ...(decides !== undefined && { decides }),
    });
    return made(ref, DatabasePlace.of(this.host.stateDirectory, ref));
  }

  /** The fork applies the same writes to the same database; whichever commits second finds their rows changed. */
  async fork(source: SandboxRef, checkpointId: string, planId: string): Promise<SandboxRef> {
    const { stateDirectory } = this.host;
    const resource = await this.host.resourceOf(source);
    const ref = this.#newRef(planId, resource, source.baseFingerprintId, source.metadata);
    const from = { place: DatabasePlace.of(stateDirectory, source), checkpointId };
    return made(ref, DatabasePlace.of(stateDirectory, ref), from);
  }

  discardCreation(_planId: string, _resource: Resource, sandboxId: string): Promise<void> {
    new DatabasePlace(this.host.stateDirectory, sandboxId).remove();
    return Promise.resolve();
  }

  async read(ref: SandboxRef, query: PathInput): Promise<Uint8Array> {
    const { place, engine } = this.#open(ref);
    try {
      return Buffer.from(await engine.read(unpublished(place), textOf(query)), "utf8");
    } catch (thrown) {
      throw asDatabaseError(thrown, "read");
    }
  }

  async write(ref: SandboxRef, name: PathInput, script: Uint8Array | string): Promise<Change> {
    const { place, engine } = this.#open(ref);
    const text = textOf(script);
    const at = this.host.clock.now().toISOString();
    try {
      const recorded = await engine.record(place.log.writes(), text);
      const write = { name: textOf(name), at, ...recorded };
      const isChange = hasEffects([write]) || Object.keys(recorded.sequences).length > 0;
      if (isChange) await place.log.append(this.host.ids.next(), write);
      const kind = isChange ? "added" : "unchanged";
      return { path: write.name, kind, before: null, after: contentState(text), at };
    } catch (thrown) {
      throw asDatabaseError(thrown, "write");
    }
  }

  diff(ref: SandboxRef): Promise<DiffView> {
    return Promise.resolve().then(() => {
      const { place } = this.#open(ref);
      return diffOf(ref, unpublished(place));
    });
  }

  expectCommit(ref: SandboxRef): AsyncDisposable {
    return this.#commits.goAhead(this.#open(ref), canPrepare(ref));
  }

  async commit(ref: SandboxRef, options: CommitOptions = {}): Promise<CommitResult> {
    if (canPrepare(ref)) return this.host.commitAlone(this, ref, options);
    this.#requireReviewed(ref, options);
    return this.#deciding.commit(this.#open(ref), options);
  }

  async undoCommit(ref: SandboxRef, options?: CallOptions): Promise<void> {
    if (canPrepare(ref)) await this.host.undoAlone(this, ref, options);
    else await this.#deciding.undo(this.#open(ref));
  }

  outcome(ref: SandboxRef): Promise<"committed" | "aborted"> {
    return this.#deciding.outcome(this.#open(ref));
  }

  async commitDeciding(
    refs: readonly SandboxRef[],
    tx: TransactionPart,
  ): Promise<readonly CommitResult[]> {
    return this.#deciding.commitDeciding(this.#all(refs), tx);
  }

  decided(refs: readonly SandboxRef[], tx: TransactionPart): Promise<"COMMIT" | "ABORT"> {
    return this.#deciding.decided(this.#all(refs), tx);
  }

  async rollback(ref: SandboxRef): Promise<void> {
    const database = this.#open(ref);
    await database.place.log.clear();
    database.place.lent.remove();
    const clones = this.#clonesOf(ref);
    if (clones !== null) await dropLent(database, clones);
  }

  beginCopy(ref: SandboxRef): Promise<SandboxCopy | SandboxAddress> {
    const clones = this.#clonesOf(ref);
    if (clones !== null) return beginClone(this.#open(ref), clones, this.host);
    return beginCopy(this.#open(ref), this.host);
  }

  async endCopy(ref: SandboxRef): Promise<void> {
    const clones = this.#clonesOf(ref);
    if (clones !== null) await endClone(this.#open(ref), clones, this.host);
    else await endCopy(this.#open(ref), this.host);
  }

  async checkpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await this.#open(ref).place.log.keep(checkpointId);
  }

  async restoreCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    await this.#open(ref).place.log.restore(checkpointId);
  }

  deleteCheckpoint(ref: SandboxRef, checkpointId: string): Promise<void> {
    this.#open(ref).place.log.drop(checkpointId);
    return Promise.resolve();
  }

  async cleanup(
    ref: SandboxRef,
    { force = false, decided = {} }: RemovalOptions = {},
  ): Promise<void> {
    const database = this.#open(ref);
    if (database.place.isThere) {
      await leaveServer(this.host, database, { force, decided }, async () => {
        if (canPrepare(ref)) await this.#commits.release(database);
        else await this.#deciding.outcome(database);
      });
      const clones = this.#clonesOf(ref);
      if (clones !== null) await (force ? giveClonesUp : dropClones)(database, clones, this.host);
    }
    database.place.remove();
    await this.#engines.get(keyOf(ref))?.release();
  }

  /** Ends the connections and processes that were kept for the next call. */
  async close(): Promise<void> {
    await this.#idle.clear();
  }

  hasChanges(ref: SandboxRef): Promise<boolean> {
    return Promise.resolve().then(() => hasEffects(unpublished(this.#open(ref).place)));
  }

  async prepare(ref: SandboxRef, tx: TransactionPart, options: CommitOptions = {}): Promise<Json> {
    this.#requireReviewed(ref, options);
    return this.#commits.prepare(this.#open(ref), tx, options);
  }

  async fence(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    await this.#commits.fence(this.#open(ref), tx);
  }

  commitPrepared(ref: SandboxRef, tx: TransactionPart): Promise<CommitResult> {
    return this.#commits.apply(this.#open(ref), tx);
  }

  async abandonPrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    await this.#commits.abandon(this.#open(ref), tx);
  }

  async reversePrepared(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    await this.#commits.reverse(this.#open(ref), tx);
  }

  async forget(ref: SandboxRef, tx: TransactionPart): Promise<void> {
    await (canPrepare(ref) ? this.#commits : this.#deciding).forget(this.#open(ref), tx);
  }

  async checkUndo(ref: SandboxRef): Promise<void> {
    await this.#commits.checkUndo(this.#open(ref));
  }

  async dropUndo(ref: SandboxRef): Promise<boolean> {
    const { place } = this.#open(ref);
    const committed = place.committed();
    if (committed === null) return false;
    await place.setCommitted({ ...committed, undoable: false });
    await place.log.erase();
    return true;
  }

  /** Connects, and looks whether the server has what is needed. */
  async probe(location = ""): Promise<ProbeResult> {
    if (isAbsolute(location) && !this.host.connections().has(location))
      return { works: false, reason: "it is for databases, and this is a path" };
    try {
      const facts = await this.#inspect(location);
      return { works: true, mode: `${facts.engine} ${facts.version}` };
    } catch (thrown) {
      const hint = thrown instanceof SandboxError && thrown.hint !== null ? thrown.hint : null;
      return { works: false, reason: describeThrown(thrown), ...(hint !== null && { hint }) };
    }
  }

  #requireReviewed(ref: SandboxRef, { expect }: CommitOptions): void {
    const { place } = this.#open(ref);
    if (expect !== undefined && diffOf(ref, unpublished(place)).digest !== expect)
      throw notAsReviewed();
  }

  #newRef(
    planId: string,
    resource: Resource,
    identity: string,
    metadata: SandboxRef["metadata"],
  ): SandboxRef {
    const { sandboxId } = this.host.newRef(planId, resource, {}, identity);
    const { folder } = new DatabasePlace(this.host.stateDirectory, sandboxId);
    const directory = toBytePath(folder);
    return this.host.newRef(planId, resource, { ...metadata, directory }, identity);
  }

  #inspect(location: string): Promise<ServerFacts> {
    const { stateDirectory } = this.host;
    const context = { identity: null, group: null, stateDirectory };
    return openEngine(location, this.host.connections(), context, this.#idle).inspect();
  }

  /** The members of a group that decide together. */
  #all(refs: readonly SandboxRef[]): readonly [OpenDatabase, ...OpenDatabase[]] {
    const [first, ...rest] = refs.map((ref) => this.#open(ref));
    if (first === undefined) throw new RangeError("no sandbox is given");
    return [first, ...rest];
  }

  #clonesOf(ref: SandboxRef): DatabaseClones | null {
    return ref.metadata["engine"] === "postgres" ? this.clones : null;
  }

  #open(ref: SandboxRef): OpenDatabase {
    const engineOf = (): DatabaseEngine => this.#engineOf(ref);
    return {
      ref,
      place: DatabasePlace.of(this.host.stateDirectory, ref),
      // Only when it is needed: without a connection one can still look at a diff, and clean up.
      get engine() {
        return engineOf();
      },
    };
  }

  #engineOf(ref: SandboxRef): DatabaseEngine {
    const key = keyOf(ref);
    const known = this.#engines.get(key);
    if (known !== undefined) return known;
    const { stateDirectory } = this.host;
    const group = groupOf(ref)?.group ?? null;
    const context = { identity: ref.baseFingerprintId, group, stateDirectory };
    const engine = openEngine(connectionOf(ref), this.host.connections(), context, this.#idle);
    this.#engines.set(key, engine);
    return engine;
  }
}

/** Makes the place of a sandbox, whole or not at all. */
async function made(
  ref: SandboxRef,
  place: DatabasePlace,
  from?: Parameters<DatabasePlace["make"]>[0],
): Promise<SandboxRef> {
  try {
    await place.make(from);
    return ref;
  } catch (thrown) {
    place.remove();
    throw thrown;
  }
}

/** Sandboxes with the same key have the same engine. */
function keyOf(ref: SandboxRef): string {
  return JSON.stringify([connectionOf(ref), ref.baseFingerprintId, groupOf(ref)?.group ?? null]);
}

/** The group in which the commit of a sandbox can be the decision; null where it can only be so alone. */
function groupOf({ metadata }: SandboxRef): { group: string; max: number } | null {
  const decides = metadata["decides"];
  if (typeof decides !== "object" || decides === null || Array.isArray(decides)) return null;
  const { group, max } = decides as { readonly group?: Json; readonly max?: Json };
  return typeof group === "string" && typeof max === "number" ? { group, max } : null;
}

/** The writes that a commit would publish: after one there is nothing more. */
function unpublished(place: DatabasePlace): readonly LoggedWrite[] {
  return place.committed() === null ? place.log.writes() : [];
}

/** Other bytes would be lost without a word. */
function textOf(input: PathInput): string {
  if (typeof input === "string") return input;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(input);
  } catch (cause) {
    throw notText(cause);
  }
}
