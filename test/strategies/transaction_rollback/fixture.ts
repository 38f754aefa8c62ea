import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Cofferdam, type CofferdamOptions, openCofferdam } from "../../../src/index.ts";
import type { DatabaseServer, TestDatabase } from "../../support/database-server.ts";
import { tempFolder } from "../../support/temp.ts";

/** A fresh database with the folder and configuration of somebody who works on it. */
export interface Ground {
  readonly server: DatabaseServer;
  readonly database: TestDatabase;
  readonly folder: string;
  readonly stateDirectory: string;
  readonly config: string;
  /** Where the tables stand in paths. */
  readonly schema: string;
  /** Opens another instance, as another process would. */
  open(options?: CofferdamOptions): Promise<Cofferdam>;
  /** What the own client of the server answers in the database, as the role that owns it. */
  sql(statements: string): string[];
  /** Everything that stands prepared in the whole server. */
  prepared(): string[];
}

/** The resource that all these tests work on. */
export const SHOP = { resourceId: "shop", type: "database", location: "main" } as const;

/** Makes a ground and runs statements in its database. */
export function makeGround(
  server: DatabaseServer,
  setup: string,
  url?: (database: TestDatabase) => string,
): Ground {
  const database = server.createDatabase();
  const folder = tempFolder();
  const config = join(folder, "cofferdam.yaml");
  const stateDirectory = join(folder, "state");
  const address = url?.(database) ?? database.url;
  writeFileSync(config, `connections:\n  main:\n    url: ${address}\n`);
  server.sql(database, setup);
  return {
    server,
    database,
    folder,
    stateDirectory,
    config,
    schema: server.schemaOf(database),
    open: (options) => openCofferdam({ stateDirectory, config, ...options }),
    sql: (statements) => server.sql(database, statements),
    prepared: () => server.prepared(),
  };
}

/** The rows of a read as values. */
export function rowsOf(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString("utf8"));
}
