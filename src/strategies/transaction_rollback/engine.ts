import type { LoggedStatement, LoggedWrite } from "./log-entry.ts";

/** What a server said about itself. */
export interface ServerFacts {
  readonly engine: string;
  readonly version: string;
  readonly database: string;
  /** Different for every database of every server. */
  readonly identity: string;
  /** Whether a transaction can be prepared; otherwise only its own commit can be the decision. */
  readonly canPrepare: boolean;
  /** The group in which its commit can be the decision, and with how many others; alone unless given. */
  readonly decides?: { readonly group: string; readonly max: number };
}

/** What an engine is opened for. */
export interface EngineContext {
  /** Which database it has to be; null while there is no log. */
  readonly identity: string | null;
  /** The group in which its commit is a decision; null when it has none. */
  readonly group: string | null;
  readonly stateDirectory: string;
}

/** What statements did when they were run on top of a log. */
export interface RecordedStatements {
  readonly statements: readonly LoggedStatement[];
  readonly sequences: Readonly<Record<string, string>>;
}

/** In which direction a log is applied: `backward` takes it back. */
export type Direction = "forward" | "backward";

/**
 * One kind of database server. Every call uses a connection of its own and leaves none, nor a lock, behind; only a
 * prepared transaction outlives its call, with its connection until it is settled. All calls check the rows that the log found: where one differs, somebody else
 * changed it.
 */
export interface DatabaseEngine {
  /** Looks at the server, and refuses what would not work. */
  inspect(): Promise<ServerFacts>;
  /** Runs statements on top of a log in a transaction that is rolled back, and tells what they did. */
  record(log: readonly LoggedWrite[], script: string): Promise<RecordedStatements>;
  /** The rows of a query, or one row, on top of a log: canonical JSON. */
  read(log: readonly LoggedWrite[], query: string): Promise<string>;
  /** Applies a log, checks all constraints, and rolls back: whether `prepare` would succeed. */
  attempt(log: readonly LoggedWrite[], direction: Direction): Promise<void>;
  /** Applies a log, checks all constraints, and leaves the transaction prepared under a name. */
  prepare(log: readonly LoggedWrite[], direction: Direction, name: string): Promise<void>;
  /** Whether a transaction of that name is prepared. Ends whoever may still be about to prepare it. */
  isPrepared(name: string): Promise<boolean>;
  /** Commits or rolls back a prepared transaction; false when there is none of that name any more. */
  settle(name: string, decision: "COMMIT" | "ROLLBACK"): Promise<boolean>;
  /**
   * Applies a log and commits it together with the decision `COMMIT` of that name, and with the logs of others of its
   * group; refuses when there is one already.
   */
  commitMarked(
    log: readonly LoggedWrite[],
    direction: Direction,
    name: string,
    others?: readonly { readonly engine: DatabaseEngine; readonly log: readonly LoggedWrite[] }[],
  ): Promise<void>;
  /** The decision of that name, also where it was made with others; records that it is given up first when there is none, so that a late commit loses. */
  decide(name: string, propose: "ABORT"): Promise<"COMMIT" | "ABORT">;
  /** The decision of that name; null when there is none. */
  decisionOf(name: string): Promise<"COMMIT" | "ABORT" | null>;
  /** Forgets a decision. */
  forgetDecision(name: string): Promise<void>;
}

/** A row that is not as the log found it. */
export interface RowConflict {
  readonly path: string;
  readonly reason: "changed" | "missing" | "exists" | "locked";
  readonly base: string | null;
  readonly theirs: string | null;
  readonly ours: string | null;
}

/** The database is not as the log found it. Never leaves the strategy. */
export class DriftError extends Error {
  readonly conflicts: readonly RowConflict[];
  /** The identity of the database that it is about, where several are committed together. */
  database: string | null = null;

  constructor(message: string, conflicts: readonly RowConflict[], cause?: unknown) {
    super(message, { cause });
    this.conflicts = conflicts;
  }
}
