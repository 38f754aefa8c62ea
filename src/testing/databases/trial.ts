import {
  type DeclaredCapabilities,
  type SandboxRef,
  type SandboxStrategy,
  unguarded,
  withDefaults,
} from "../../index.ts";
import { PLAN } from "../trial.ts";
import type { DatabaseSession, DatabaseSubject } from "./subject.ts";

/** What every database of the kit holds. */
const TABLE = `CREATE TABLE notes (id integer NOT NULL PRIMARY KEY, line varchar(40));
INSERT INTO notes VALUES (1, 'one'), (2, 'two'), (3, 'three');`;
const ROWS = "SELECT id, line FROM notes ORDER BY id";

/** The rows that the database begins with. */
export const FIRST_ROWS = ["1|one", "2|two", "3|three"];
/** Edits of every kind. */
export const EDIT =
  "UPDATE notes SET line = 'ONE' WHERE id = 1; DELETE FROM notes WHERE id = 2; INSERT INTO notes VALUES (4, 'four')";
/** The rows that they leave. */
export const EDITED_ROWS = ["1|ONE", "3|three", "4|four"];

/** One check at work: an installation, a database and sandboxes of it, all of its own. */
export class DatabaseTrial implements AsyncDisposable {
  readonly session: DatabaseSession;
  readonly strategyName: string;
  /** The strategy as callers get it: guarded by the engine. */
  readonly strategy: SandboxStrategy;
  readonly #refs: SandboxRef[] = [];

  private constructor(session: DatabaseSession, strategyName: string, strategy: SandboxStrategy) {
    this.session = session;
    this.strategyName = strategyName;
    this.strategy = strategy;
  }

  static async begin(subject: DatabaseSubject): Promise<DatabaseTrial> {
    const { strategyName } = subject;
    const session = await subject.open(TABLE);
    try {
      const strategy = await session.cofferdam.registry.resolve(strategyName);
      return new DatabaseTrial(session, strategyName, strategy);
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Makes a sandbox of the database; every plan has at most one. */
  async create(planId = PLAN): Promise<SandboxRef> {
    const { cofferdam, resource } = this.session;
    const ref = await cofferdam.create(planId, resource, { strategy: this.strategyName });
    this.#refs.push(ref);
    return ref;
  }

  /** A sandbox with all edits. */
  async edited(): Promise<SandboxRef> {
    const ref = await this.create();
    await this.strategy.write(ref, "edit.sql", EDIT);
    return ref;
  }

  /** Makes a second plan from the one of a sandbox, and gives its sandbox of the same database. */
  async fork(ref: SandboxRef, name: string): Promise<SandboxRef> {
    const plan = await this.session.cofferdam.plan(ref.planId);
    const forked = (await plan.fork(name)).sandbox(ref.resourceId).ref;
    this.#refs.push(forked);
    return forked;
  }

  /** Frees a sandbox, as the rule's own step. */
  async cleanup(ref: SandboxRef): Promise<void> {
    await this.strategy.cleanup(ref);
    this.#refs.splice(this.#refs.indexOf(ref), 1);
  }

  /** The strategy without the engine around it, for the single phases of a commit. */
  get unguarded(): SandboxStrategy {
    return unguarded(this.strategy);
  }

  /** What the strategy promises for a sandbox. */
  capabilities(ref: SandboxRef): DeclaredCapabilities {
    const { unguarded: strategy } = this;
    return withDefaults(strategy.capabilitiesOf?.(ref) ?? strategy.capabilities);
  }

  /** The rows as the real database has them. */
  async rows(): Promise<readonly string[]> {
    return this.session.sql(ROWS);
  }

  /** The rows as a sandbox shows them. */
  async rowsIn(ref: SandboxRef): Promise<readonly string[]> {
    return rowsOf(await this.strategy.read(ref, ROWS));
  }

  /** What a commit would do, by the end of the path. */
  async changes(ref: SandboxRef): Promise<readonly string[]> {
    const { changes } = await this.strategy.diff(ref);
    return changes.map(({ path, kind }) => `${rowName(path)} ${kind}`);
  }

  /** Frees all sandboxes, then the installation. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      for (const ref of this.#refs) await this.strategy.cleanup(ref, { force: true });
    } finally {
      await this.session[Symbol.asyncDispose]();
    }
  }
}

/** A row's path without the name of its schema. */
export function rowName(path: string): string {
  return path.slice(path.indexOf(".") + 1);
}

/** The answer of a read of `ROWS`, in the words of a client. */
export function rowsOf(bytes: Uint8Array): readonly string[] {
  const rows = JSON.parse(Buffer.from(bytes).toString("utf8")) as readonly {
    readonly id: number;
    readonly line: string | null;
  }[];
  return rows.map(({ id, line }) => `${id}|${line ?? ""}`);
}

/** The query of all rows. */
export const ALL_ROWS = ROWS;
