import { PlatformUnsupportedError } from "../../../errors/index.ts";

/** What can be bound. */
export type Bindable = string | bigint | number | Uint8Array;

/** A row by the names of its columns. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** A compiled statement. */
export interface Statement {
  run(...values: readonly Bindable[]): unknown;
  all(...values: readonly Bindable[]): readonly SqlRow[];
  iterate(...values: readonly Bindable[]): Iterable<SqlRow>;
}

/** A connection, by the interface of `node:sqlite`. */
export interface Connection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

/** The library: the one of Node, or the package with the same interface. */
export interface Library {
  readonly DatabaseSync: new (
    location: string,
    options: { readonly enableDoubleQuotedStringLiterals: boolean },
  ) => Connection;
  /** Copies a database while it is in use; not every built-in library has it. */
  readonly backup: (
    connection: Connection,
    target: string,
    options: { readonly rate: number },
  ) => Promise<unknown>;
}

/**
 * Finds the library.
 * @throws PlatformUnsupportedError where there is none.
 */
export async function loadLibrary(): Promise<Library> {
  const builtIn = process.getBuiltinModule?.("node:sqlite") as Library | undefined;
  if (builtIn !== undefined && "backup" in builtIn) return builtIn;
  try {
    return (await import("@photostructure/sqlite")) as unknown as Library;
  } catch (cause) {
    if (builtIn !== undefined) return builtIn;
    throw new PlatformUnsupportedError("The client library for SQLite is not installed", {
      data: { what: "@photostructure/sqlite", reason: "the package cannot be loaded" },
      hint: "npm install @photostructure/sqlite, or use Node 22.13 or newer",
      cause,
    });
  }
}
