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

/** A transaction in which a log is being applied. Whoever began it disposes it, which ends it unless it was prepared. */
export interface BegunTransaction extends AsyncDisposable {
  /** A failure to apply the log is told by `prepare`. */
  readonly isBegun: true;
}

/** What a `prepare` may find done, or has to wait for. */
export interface PrepareDetails {
  /** Only afterwards anything may stand prepared. */
  readonly noted?: Promise<unknown>;
  readonly begun?: BegunTransaction | undefined;
}

/** A database that is one file: commands may work on a private copy of it. */
export interface DatabaseFileCalls {
  /** Absolute path of the file, links resolved. */
  location(): string;
  /** Makes a file with what the database holds, with a log applied; durable when the promise settles. */
  copy(log: readonly LoggedWrite[], target: string): Promise<void>;
  /**
   * The statements that make one copy the other; what a killed program left undone in `after` is settled first.
   * @throws DatabaseError (`DATABASE`, reason `notCaptured`) where the difference cannot be told so.
   */
  compare(before: string, after: string): Promise<RecordedStatements>;
}

/** A database whose clones on the same server can be used and compared; how they are made is told by others. */
export interface DatabaseCloneCalls {
  /**
   * The URL of the database, which still is the one that the sandbox was made for. Ends connections that are kept to it,
   * because they could be in the way of a clone.
   */
  source(): Promise<string>;
  /**
   * Refuses a database whose clones could not be compared.
   * @throws DatabaseError (`DATABASE`, reason `notCaptured`).
   */
  requireComparable(): Promise<void>;
  /** Brings a log into a clone, for good. */
  apply(log: readonly LoggedWrite[], url: string): Promise<void>;
  /**
   * The statements that make one clone the other.
   * @throws DatabaseError (`DATABASE`, reason `notCaptured`) where the difference cannot be told so.
   */
  compare(before: string, after: string): Promise<RecordedStatements>;
}

/**
 * One kind of database server. Every call has a connection for itself and leaves no transaction, nor a lock, behind; what
 * it used may serve the next call for a while. Only a prepared transaction outlives its call, with its connection until it
 * is settled. All calls check the rows that the log found: where one differs, somebody else changed it.
 */
export interface DatabaseEngine {
  /** What can be done with a database that is one file; absent for any other. */
  readonly file?: DatabaseFileCalls;
  /** What can be done with clones of the database; absent where they cannot be compared. */
  readonly clone?: DatabaseCloneCalls;
  /** Looks at the server, and refuses what would not work. */
  inspect(): Promise<ServerFacts>;
  /** Runs statements on top of a log in a transaction that is rolled back, and tells what they did. */
  record(log: readonly LoggedWrite[], script: string): Promise<RecordedStatements>;
  /** The rows of a query, or one row, on top of a log: canonical JSON. */
  read(log: readonly LoggedWrite[], query: string): Promise<string>;
  /** Applies a log, checks all constraints, and rolls back: whether `prepare` would succeed. */
  attempt(log: readonly LoggedWrite[], direction: Direction): Promise<void>;
  /** Begins a transaction and applies a log in it, for the `prepare` of the same log that is going to follow. */
  begin?(log: readonly LoggedWrite[], direction: Direction): BegunTransaction;
  /**
   * Applies a log, checks all constraints, and leaves the transaction prepared under a name. Gives what `hasCommitted`
   * knows it by for ever; null where the server can tell nothing of a transaction that is settled.
   * @throws UnsentError when it was not asked to.
   */
  prepare(
    log: readonly LoggedWrite[],
    direction: Direction,
    name: string,
    details?: PrepareDetails,
  ): Promise<string | null>;
  /** Whether a transaction that was prepared, and is settled, was committed and not rolled back. */
  hasCommitted?(transaction: string): Promise<boolean>;
  /** Whether a transaction of that name is prepared. Ends whoever may still be about to prepare it. */
  isPrepared(name: string): Promise<boolean>;
  /** Commits or rolls back a prepared transaction; false when there is none of that name any more. */
  settle(name: string, decision: "COMMIT" | "ROLLBACK"): Promise<boolean>;
  /**
   * Applies a log and commits it together with the decision `COMMIT` of that name, and with the logs of others of its
   * group; refuses when there is one already.
   * @throws UnsentError when it was not asked to.
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
  /** Whether what a call threw says that the connection was lost; absent where an error of the family says so. */
  isLost?(thrown: unknown): boolean;
  /** Ends what was kept for the next call; one that comes all the same makes it anew. */
  release(): Promise<void>;
}

/** A row that is not as the log found it. */
export interface RowConflict {
  readonly path: string;
  readonly reason: "changed" | "missing" | "exists" | "locked";
  readonly base: string | null;
  readonly theirs: string | null;
  readonly ours: string | null;
}

/**
 * Something failed before the server was asked to prepare or to commit: it never will, and nobody has to ask it what
 * became of that. The cause is what it would have been otherwise. Never leaves the strategy.
 */
export class UnsentError extends Error {
  override readonly name = "UnsentError";

  constructor(cause: unknown) {
    super("nothing was sent", { cause });
  }
}

/** Does what comes before the server is asked to prepare or to commit. */
export async function beforeSending<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw new UnsentError(thrown);
  }
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
