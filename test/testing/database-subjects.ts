import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openCofferdam } from "cofferdam";
import type { DatabaseSession, DatabaseSubject } from "cofferdam/testing";
import type { PostgresServer } from "../support/postgres-server.ts";
import { removeFolder } from "../support/remove-folder.ts";

/** A database as its own client knows it. */
type Made = Pick<DatabaseSession, "sql" | "command" | "leftovers"> & { readonly url: string };

/** The strategy that is tried, and the part of the configuration that brings it in. */
export interface TriedStrategy {
  readonly strategyName: string;
  readonly configuration: string;
}

/** The kit's subject: databases of a server, each with a role that may make others. */
export function postgresSubject(server: PostgresServer, strategy: TriedStrategy): DatabaseSubject {
  return subjectOf("PostgreSQL", strategy, (statements) => {
    const database = server.createDatabase();
    const { name, role, url } = database;
    server.sql("postgres", `ALTER ROLE ${role} CREATEDB`);
    server.sql(database, statements);
    const clones = `SELECT datname FROM pg_database WHERE starts_with(datname, '${name}_')`;
    return {
      url,
      sql: (text) => server.sql(database, text),
      command: (text) => ["psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-c", text],
      leftovers: () => [...server.sql("postgres", clones), ...server.prepared()],
    };
  });
}

/** The kit's subject: databases that are files, each in a folder of its own. */
export function sqliteSubject(strategy: TriedStrategy): DatabaseSubject {
  return subjectOf("SQLite", strategy, (statements, folder) => {
    const place = mkdtempSync(join(folder, "data-"));
    const file = join(place, "notes.db");
    const client = (text: string): string[] => ["sqlite3", "-batch", "-bail", file, text];
    const sqlite3 = (text: string): readonly string[] => {
      const [program = "", ...args] = client(text);
      const answer = execFileSync(program, args, { encoding: "utf8" });
      return answer.split("\n").filter((line) => line !== "");
    };
    sqlite3(statements);
    return {
      url: `sqlite:${file}`,
      sql: sqlite3,
      command: client,
      leftovers: () => readdirSync(place).filter((name) => name !== "notes.db"),
    };
  });
}

function subjectOf(
  kind: string,
  { strategyName, configuration }: TriedStrategy,
  make: (statements: string, folder: string) => Made,
): DatabaseSubject {
  return {
    name: `${strategyName} of ${kind}`,
    strategyName,
    open: async (statements): Promise<DatabaseSession> => {
      const folder = mkdtempSync(join(tmpdir(), "cofferdam-databases-"));
      const { url, ...client } = make(statements, folder);
      const config = join(folder, "cofferdam.yaml");
      writeFileSync(config, `${configuration}connections:\n  main:\n    url: ${url}\n`, {
        mode: 0o600,
      });
      const options = { stateDirectory: join(folder, "state"), config };
      const cofferdam = await openCofferdam(options);
      return {
        ...client,
        cofferdam,
        options,
        resource: { resourceId: "notes", type: "database", location: "main" },
        [Symbol.asyncDispose]: async () => {
          await cofferdam.close();
          removeFolder(folder);
        },
      };
    },
  };
}
