/** A database of its own for one test, with the role that owns it. */
export interface TestDatabase {
  readonly name: string;
  readonly role: string;
  readonly password: string;
  /** With role and password. */
  readonly url: string;
}

/** A real server of some kind on loopback, run by an ordinary user. Whoever starts it disposes it. */
export interface DatabaseServer extends AsyncDisposable {
  readonly port: number;
  /** Of the URLs that lead to it. */
  readonly scheme: string;
  /** Starts it again and waits until it answers. */
  resume(): Promise<void>;
  /** Ends it: `fast` in good order, `immediate` as in a crash, `killed` by SIGKILL of all its processes. */
  halt(how?: "fast" | "immediate" | "killed"): Promise<void>;
  /** Makes a database that belongs to a role of its own. */
  createDatabase(): TestDatabase;
  /** What the server's own client answers: one text a row, columns separated by bars. A name means all rights. */
  sql(database: string | TestDatabase, statements: string): string[];
  /** The names of everything that stands prepared. */
  prepared(): string[];
  /** Commits or rolls back what stands prepared under a name, as an administrator would. */
  settlePrepared(database: TestDatabase, name: string, decision: "COMMIT" | "ROLLBACK"): void;
  /** Where the tables of a database stand in paths. */
  schemaOf(database: TestDatabase): string;
  /** Whether bytes are what the server answers to a statement when it is done. */
  isAnswer(bytes: Buffer, statement: string): boolean;
  /** What is locked in a database. */
  locks(database: TestDatabase): string[];
  /** Gives the role of a database another password. */
  setPassword(database: TestDatabase, password: string): void;
  /** The connections of sandboxes. */
  connections(): string[];
  /** Cuts all connections of sandboxes. */
  cutConnections(): void;
}
