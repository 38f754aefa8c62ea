import type { Cofferdam, CofferdamOptions, Resource } from "../../index.ts";

/** What the kit for databases is run against: one strategy for one kind of database. */
export interface DatabaseSubject {
  /** Shown as the name of the suite. */
  readonly name: string;
  /** The strategy under test, as a resource would name it. */
  readonly strategyName: string;
  /** A fresh database that these statements make, and an installation that knows it; called once for every check. */
  open(statements: string): Promise<DatabaseSession>;
}

/** One installation with a real database; whoever opens it disposes of it, and then nothing of it remains. */
export interface DatabaseSession extends AsyncDisposable {
  readonly cofferdam: Cofferdam;
  /** What opens the same installation in another process; must survive JSON. */
  readonly options: CofferdamOptions;
  readonly resource: Resource;
  /** What the database's own client answers, outside of any sandbox: one text a row, columns separated by bars. */
  sql(statements: string): readonly string[] | Promise<readonly string[]>;
  /** A command that runs statements by a client that finds the database as any program does. */
  command(statements: string): readonly string[];
  /** What sandboxes have put on the server, or beside the file: clones, prepared transactions. */
  leftovers(): readonly string[] | Promise<readonly string[]>;
}
