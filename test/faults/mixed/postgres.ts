import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { PostgresServer, TestDatabase } from "../../support/postgres-server.ts";
import type { Ground } from "../ground.ts";
import type { TreeState } from "../tree.ts";
import type { WorldMember } from "./member.ts";

const MAKE = `
  CREATE TABLE kinds (id int PRIMARY KEY, state text NOT NULL);
  CREATE TABLE parts (
    id int PRIMARY KEY,
    kind int REFERENCES kinds DEFERRABLE INITIALLY DEFERRED
  );
  INSERT INTO kinds VALUES (1, 'old'), (2, 'old'), (3, 'old');
  INSERT INTO parts VALUES (1, 1);
`;

const EDITS = {
  edited: `
    UPDATE kinds SET state = 'edited' WHERE id = 1;
    INSERT INTO parts VALUES (2, 4); INSERT INTO kinds VALUES (4, 'made'); DELETE FROM kinds WHERE id = 3`,
  later: "UPDATE kinds SET state = 'later' WHERE id IN (1, 4); DELETE FROM parts WHERE id = 2",
} as const;

/** What the statements leave, worked out by hand. */
const ROWS: Readonly<Record<TreeState, readonly string[]>> = {
  old: ["kind 1 old", "kind 2 old", "kind 3 old", "part 1 of 1"],
  edited: ["kind 1 edited", "kind 2 old", "kind 4 made", "part 1 of 1", "part 2 of 4"],
  later: ["kind 1 later", "kind 2 old", "kind 4 later", "part 1 of 1"],
};

const QUERY = `
  SELECT 'kind ' || id || ' ' || state AS line FROM kinds
  UNION ALL SELECT 'part ' || id || ' of ' || kind FROM parts ORDER BY line`;

/** A database in which somebody else may be at work. */
export interface PostgresMember extends WorldMember {
  /** Somebody else writes into a row; false when it is locked. */
  readonly writeRow: (ground: Ground, id: number) => boolean;
  /** In which state it is when somebody has written into that row meanwhile. */
  readonly stateBeside: (ground: Ground, id: number) => TreeState;
}

/** A database of PostgreSQL for each ground; one whose ground is gone is dropped. */
export function postgres(server: PostgresServer, port = server.port): PostgresMember {
  const template = server.createDatabase();
  server.sql(template, MAKE);
  return {
    id: "PostgreSQL",
    make: (ground) => {
      dropGone(server, template, dirname(ground.folder));
      const made = databaseOf(ground, template).name;
      server.sql(
        "postgres",
        `CREATE DATABASE "${made}" TEMPLATE ${template.name} OWNER ${template.role}`,
      );
    },
    resource: () => ({ type: "database", location: "postgres" }),
    connection: (ground) => {
      const { name, role, password } = databaseOf(ground, template);
      const url = `postgres://${role}:${password}@127.0.0.1:${port}/${name}`;
      return `  postgres:\n    url: ${url}\n`;
    },
    edit: (sandbox, to) => sandbox.write(`${to}.sql`, EDITS[to]),
    stateOf: (ground) => stateOfRows(rowsOf(server, ground, template), ["old", "edited"]),
    stateOfSandbox: async (_ground, sandbox) => {
      const bytes = await sandbox.read(QUERY);
      const rows = JSON.parse(Buffer.from(bytes).toString("utf8")) as { readonly line: string }[];
      const lines = rows.map(({ line }) => line);
      return stateOfRows(lines, ["old", "edited", "later"]);
    },
    writeRow: (ground, id) => {
      const write = `SET lock_timeout = '300ms'; UPDATE kinds SET state = 'theirs' WHERE id = ${id}`;
      try {
        server.sql(databaseOf(ground, template), write);
        return true;
      } catch {
        return false;
      }
    },
    stateBeside: (ground, id) => {
      const lines = rowsOf(server, ground, template);
      const theirs = `kind ${id} theirs`;
      if (!lines.includes(theirs)) throw new Error(`a row is lost: ${lines.join(", ")}`);
      const possible = (["old", "edited"] as const).filter((state) => {
        const expected = ROWS[state].map((line) =>
          line.startsWith(`kind ${id} `) ? theirs : line,
        );
        return expected.join("\n") === lines.join("\n");
      });
      return possible[0] ?? stateOfRows(lines, []);
    },
    look: (ground) => rowsOf(server, ground, template).join("\n"),
    unsettled: (ground) => preparedIn(server, databaseOf(ground, template).name),
    leftovers: (ground) => {
      const others = `SELECT nspname FROM pg_namespace WHERE nspname ~ 'cofferdam'
        UNION ALL SELECT relname FROM pg_class WHERE relname ~ 'cofferdam'`;
      return server.sql(databaseOf(ground, template), others);
    },
  };
}

/** The database of a ground, which is named after it. */
function databaseOf({ folder }: Pick<Ground, "folder">, template: TestDatabase): TestDatabase {
  return { ...template, name: basename(folder) };
}

function rowsOf(server: PostgresServer, ground: Ground, template: TestDatabase): string[] {
  return server.sql(databaseOf(ground, template), QUERY);
}

function stateOfRows<State extends TreeState>(
  lines: readonly string[],
  possible: readonly State[],
): State {
  const found = possible.find((state) => ROWS[state].join("\n") === lines.join("\n"));
  if (found === undefined) throw new Error(`the rows are a mixture: ${lines.join(", ")}`);
  return found;
}

function preparedIn(server: PostgresServer, name: string): string[] {
  return server.sql(
    "postgres",
    `SELECT 'prepared ' || gid FROM pg_prepared_xacts WHERE database = '${name}'`,
  );
}

function dropGone(server: PostgresServer, { name }: TestDatabase, folder: string): void {
  const names = server.sql(
    "postgres",
    `SELECT datname FROM pg_database
     WHERE NOT datistemplate AND datname NOT IN ('postgres', '${name}')`,
  );
  for (const gone of names.filter((one) => !existsSync(join(folder, one)))) {
    // A violation may have left something that keeps the database.
    for (const prepared of preparedIn(server, gone))
      server.sql(gone, `ROLLBACK PREPARED '${prepared.slice("prepared ".length)}'`);
    server.sql("postgres", `DROP DATABASE "${gone}" WITH (FORCE)`);
  }
}
