import type { Bindable, Connection, Library, SqlRow, Statement } from "./library.ts";

/** How long a call waits for the locks of others. */
const PATIENCE_MS = 10_000;
/** In one go: between two steps others could change what was copied, and all would begin anew. */
const ALL_PAGES = 0x7fffffff;

/** One connection, inside the process for it. Whoever opens it closes it. */
export class Session implements Disposable {
  readonly #connection: Connection;
  readonly #statements = new Map<string, Statement>();

  /** Opens a file; `make` makes it where there is none. */
  constructor(library: Library, path: string, make: "make" | "existing" = "existing") {
    // As SQLite does by itself: triggers of old schemas may count on it.
    const options = { enableDoubleQuotedStringLiterals: true };
    this.#connection = new library.DatabaseSync(addressOf(path, make), options);
    this.exec(`PRAGMA busy_timeout = ${PATIENCE_MS}`);
    this.exec("PRAGMA temp_store = MEMORY");
  }

  /** Adds another file under a name. */
  attach(path: string, name: string): void {
    this.run(`ATTACH ? AS ${name}`, addressOf(path, "existing"));
  }

  /** Copies the database, as it is for the transaction that is open, to a file that is not there yet. */
  async backUp(library: Library, target: string): Promise<void> {
    await library.backup(this.#connection, target, { rate: ALL_PAGES });
  }

  /** Runs one statement, or several of ours. */
  exec(sql: string): void {
    this.#connection.exec(sql);
  }

  run(sql: string, ...values: readonly Bindable[]): void {
    this.#statement(sql).run(...values);
  }

  all(sql: string, ...values: readonly Bindable[]): readonly SqlRow[] {
    return this.#statement(sql).all(...values);
  }

  /** All rows, one at a time: a table may be larger than memory. */
  each(sql: string): Iterable<SqlRow> {
    return this.#connection.prepare(sql).iterate();
  }

  /** The first value of the first row; null when there is none. */
  value(sql: string, ...values: readonly Bindable[]): unknown {
    const [row] = this.all(sql, ...values);
    return row === undefined ? null : (Object.values(row)[0] ?? null);
  }

  /** Whether the database is in WAL mode. */
  isWal(name = "main"): boolean {
    return this.value(`PRAGMA ${name}.journal_mode`) === "wal";
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql) ?? this.#connection.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}

/** The path as a URI, so that SQLite never makes a database by itself. */
function addressOf(path: string, make: "make" | "existing"): string {
  const encoded = path.split("/").map(encodeURIComponent).join("/");
  return `file:${encoded}?mode=${make === "make" ? "rwc" : "rw"}`;
}
