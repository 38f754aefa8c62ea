import { realpathSync } from "node:fs";
import { basename, join } from "node:path";
import type { Connection } from "../connection.ts";
import type {
  DatabaseEngine,
  DatabaseFileCalls,
  Direction,
  EngineContext,
  RecordedStatements,
  ServerFacts,
} from "../engine.ts";
import type { LoggedWrite } from "../log-entry.ts";
import { type SqliteAddress, parseAddress } from "./address.ts";
import type { CommitPart, DatabaseFile, DecisionPlace, Requests } from "./protocol.ts";
import { type IdleWorkers, WorkerProcess } from "./worker-process.ts";

/** How many databases SQLite can attach: their commits are one atom together. */
const TOGETHER = 10;

/**
 * SQLite: one file, no prepared transactions. Databases that are not in WAL mode decide together, through a database of
 * decisions in the state directory that their one commit is part of; one in WAL mode decides alone, by a row of its own.
 */
export class SqliteEngine implements DatabaseEngine {
  readonly #address: SqliteAddress;
  readonly #context: EngineContext;
  readonly #idle: IdleWorkers;

  /** `idle` keeps the processes between calls. */
  constructor(connection: Connection, context: EngineContext, idle: IdleWorkers) {
    this.#address = parseAddress(connection);
    this.#context = context;
    this.#idle = idle;
  }

  async inspect(): Promise<ServerFacts> {
    const file = this.#file;
    const { version, identity, isWal } = await this.#ask("inspect", { file });
    const database = basename(file.path);
    // Whether foreign keys are checked holds for all databases of one commit.
    const group = file.foreignKeys ? "sqlite" : "sqlite without foreign keys";
    const decides = isWal ? {} : { decides: { group, max: TOGETHER } };
    return { engine: "sqlite", version, database, identity, canPrepare: false, ...decides };
  }

  get file(): DatabaseFileCalls {
    const file = this.#file;
    return {
      location: () => realpathSync(file.path),
      copy: async (log, target) => {
        await this.#ask("copy", { file, log, target });
      },
      compare: (before, after) =>
        this.#ask("compare", { before, after, foreignKeys: file.foreignKeys }),
    };
  }

  record(log: readonly LoggedWrite[], script: string): Promise<RecordedStatements> {
    return this.#ask("record", { file: this.#file, log, script });
  }

  read(log: readonly LoggedWrite[], query: string): Promise<string> {
    return this.#ask("read", { file: this.#file, log, query });
  }

  async attempt(log: readonly LoggedWrite[], direction: Direction): Promise<void> {
    await this.#ask("attempt", { file: this.#file, log, direction });
  }

  prepare(): Promise<null> {
    return Promise.reject(new TypeError("SQLite cannot prepare a transaction"));
  }

  isPrepared(): Promise<boolean> {
    return Promise.resolve(false);
  }

  settle(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async commitMarked(
    log: readonly LoggedWrite[],
    direction: Direction,
    name: string,
    others: readonly {
      readonly engine: DatabaseEngine;
      readonly log: readonly LoggedWrite[];
    }[] = [],
  ): Promise<void> {
    const rest = others.flatMap(({ engine, log: own }): CommitPart[] =>
      engine instanceof SqliteEngine ? [{ file: engine.#file, log: own }] : [],
    );
    const all = [{ file: this.#file, log }, ...rest];
    // Always in the same order, so that two plans never wait for each other.
    const parts = all.toSorted((a, b) => (a.file.path < b.file.path ? -1 : 1));
    const place = this.#place;
    await using worker = await WorkerProcess.open(this.#idle);
    await worker.ask("open", { place, name });
    await worker.ask("commit", { place, name, parts, direction });
  }

  decide(name: string): Promise<"COMMIT" | "ABORT"> {
    return this.#ask("decide", { place: this.#place, name });
  }

  decisionOf(name: string): Promise<"COMMIT" | "ABORT" | null> {
    return this.#ask("decisionOf", { place: this.#place, name });
  }

  async forgetDecision(name: string): Promise<void> {
    await this.#ask("forget", { place: this.#place, name });
  }

  async release(): Promise<void> {
    await this.#idle.clear();
  }

  async #ask<Kind extends keyof Requests>(
    kind: Kind,
    about: Requests[Kind][0],
  ): Promise<Requests[Kind][1]> {
    await using worker = await WorkerProcess.open(this.#idle);
    return await worker.ask(kind, about);
  }

  get #file(): DatabaseFile {
    return { ...this.#address, identity: this.#context.identity };
  }

  /** Told from the sandbox alone: a commit is looked up where it was made, whatever the mode is by now. */
  get #place(): DecisionPlace {
    const { stateDirectory, group } = this.#context;
    const own = group === null ? null : join(stateDirectory, "decision.db");
    return { own, file: this.#file };
  }
}
