import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Cofferdam, type Plan, type PlanRunResult, openCofferdam } from "cofferdam";
import { afterAll, beforeAll } from "vitest";
import { PostgresServer, type TestDatabase } from "../../../test/support/postgres-server.ts";
import { tempFolder } from "../../../test/support/temp.ts";

const PLUGIN = fileURLToPath(new URL("..", import.meta.url));

/** Where the strategy comes from. */
export const STRATEGY = `sandbox:
  plugin_roots: ["${PLUGIN}"]
  custom_strategies:
    database_snapshot: { module: "${PLUGIN}/src/strategy.ts", class: DatabaseSnapshotStrategy }
`;

/** A fresh database, and an installation that knows it as `main`. */
export class Ground {
  readonly server: PostgresServer;
  readonly database: TestDatabase;
  readonly folder = tempFolder();
  readonly config = join(this.folder, "cofferdam.yaml");
  readonly stateDirectory = join(this.folder, "state");

  constructor(server: PostgresServer, setup: string, port = server.port) {
    this.server = server;
    this.database = server.createDatabase();
    server.sql("postgres", `ALTER ROLE ${this.database.role} CREATEDB`);
    this.connect(this.database.url.replace(`:${server.port}/`, `:${port}/`));
    this.sql(setup);
  }

  /** Writes the configuration, with another database than its own if wanted. */
  connect(...urls: readonly string[]): void {
    const names = ["main", "second"];
    const lines = urls.map((url, at) => `  ${names[at] ?? ""}:\n    url: ${url}\n`);
    const connections = lines.length === 0 ? " {}\n" : `\n${lines.join("")}`;
    writeFileSync(this.config, `${STRATEGY}connections:${connections}`, { mode: 0o600 });
  }

  open(onEvent: (name: string) => void = () => undefined): Promise<Cofferdam> {
    const { stateDirectory, config } = this;
    return openCofferdam({ stateDirectory, config, onEvent: ({ name }) => onEvent(name) });
  }

  /** A plan over the database. */
  plan(cofferdam: Cofferdam): Promise<Plan> {
    return cofferdam.plan("plan", [
      { id: "shop", type: "database", location: "main", sandboxStrategy: "database_snapshot" },
    ]);
  }

  /** Runs a shell script in a plan; it finds the database by its environment. */
  run(plan: Plan, script: string): Promise<PlanRunResult> {
    return plan.run(["sh", "-euc", script], {
      cwd: this.folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }

  /** What psql answers in the real database. */
  sql(statements: string): string[] {
    return this.server.sql(this.database, statements);
  }

  /** The clones of this database that are on the server. */
  clones(): string[] {
    return this.server.sql(
      "postgres",
      `SELECT datname FROM pg_database WHERE datname LIKE '${this.database.name}\\_coffer%' ORDER BY 1`,
    );
  }
}

/** Starts a server before the tests of a file, and ends it after. */
export function useServer(): { readonly server: PostgresServer } {
  let started: PostgresServer | null = null;
  beforeAll(async () => {
    started = await PostgresServer.start({ fsync: "off" });
  });
  afterAll(() => started?.[Symbol.asyncDispose]());
  return {
    get server() {
      if (started === null) throw new Error("not before the tests");
      return started;
    },
  };
}

/** Statements for psql, as an argument of a shell. */
export function psql(statements: string): string {
  return `psql -X -q -v ON_ERROR_STOP=1 -c ${quoted(statements)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
