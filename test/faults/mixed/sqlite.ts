import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { FaultPoint } from "../../support/faults.ts";
import { journalsBeside, sqlite3 } from "../../support/sqlite3.ts";
import type { Ground } from "../ground.ts";
import { type DatabaseMember, OLD_ROWS, databaseMember } from "./database.ts";

const MAKE = `
  CREATE TABLE kinds (id INTEGER PRIMARY KEY, state TEXT NOT NULL);
  CREATE TABLE parts (
    id INTEGER PRIMARY KEY,
    kind INTEGER REFERENCES kinds DEFERRABLE INITIALLY DEFERRED
  );
  ${OLD_ROWS}
`;
const EVERYTHING_ELSE =
  "SELECT name FROM sqlite_schema WHERE name NOT IN ('kinds', 'parts') ORDER BY name";

/** A file of SQLite on the ground. It cannot prepare: its commit is the decision of the plan. */
export const sqlite: DatabaseMember = databaseMember({
  id: "SQLite",
  location: "sqlite",
  canDefer: true,
  query: `
    SELECT 'kind ' || id || ' ' || state AS line FROM kinds
    UNION ALL SELECT 'part ' || id || ' of ' || kind FROM parts ORDER BY line`,
  impatiently: ".timeout 300",
  make: (ground) => {
    mkdirSync(join(ground.folder, "sqlite"));
    sqlite3(fileOf(ground), MAKE);
  },
  connection: (ground) => `  sqlite:\n    url: sqlite:${fileOf(ground)}\n`,
  sql: (ground, statements) => sound(fileOf(ground), statements),
  // Before anybody opens them: a reader would settle a journal by itself.
  unsettled: (ground) => [fileOf(ground), decisionsOf(ground)].flatMap(journalsBeside),
  leftovers: (ground) => {
    const ours = existsSync(decisionsOf(ground)) ? decisionsOf(ground) : null;
    return [fileOf(ground), ...(ours === null ? [] : [ours])].flatMap((file) =>
      sound(file, EVERYTHING_ELSE),
    );
  },
});

/** Whether a call of a child is one of SQLite: about a database, a journal, or the folder of either. */
export function isOfSqlite({ inChild, paths }: Pick<FaultPoint, "inChild" | "paths">): boolean {
  const own = /\/(?:sqlite|state)(?:\/(?:rows|decision)\.db(?:-\w+)?)?$/;
  return inChild && paths.some((path) => own.test(path));
}

function fileOf({ folder }: Pick<Ground, "folder">): string {
  return join(folder, "sqlite/rows.db");
}

/** Where the databases of a plan decide together. */
function decisionsOf({ state }: Pick<Ground, "state">): string {
  return join(state, "decision.db");
}

/** What a database answers that has no damage. */
function sound(file: string, statements: string): readonly string[] {
  const checks = "PRAGMA integrity_check; PRAGMA foreign_key_check";
  const [found, ...answers] = sqlite3(file, `${checks};\n${statements}`);
  if (found !== "ok") throw new Error(`damaged: ${found}; ${answers.join("; ")}`);
  return answers;
}
