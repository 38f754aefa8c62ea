import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { runSql } from "../strategies/transaction_rollback/sqlite/ground.ts";
import { type Home, coffer, makeHome, node } from "./coffer.ts";

/** Where the library lies that programs of a test work on databases with. */
const LIBRARY = import.meta.resolve("@photostructure/sqlite");

/** A home whose project has a database, and maybe more. */
export interface DatabaseHome extends Home {
  readonly database: string;
  /** Runs statements in the real database; the rows of the last one. */
  sql(statements: string): string[];
  /** Runs `coffer`, and gives what it says as JSON. */
  told(args: readonly string[]): unknown;
  /** The paths of what would be committed, with how each differs. */
  changes(plan: string): Record<string, string>;
  /** The names beside the database, and in its own folder. */
  names(): string[];
}

/** Makes a home with a database at a path of its project. */
export function makeDatabaseHome(setup: string, path = "app.db"): DatabaseHome {
  const home = makeHome({ [join(path, "..", "file.txt")]: "text\n" });
  const database = join(home.project, path);
  const sql = (statements: string): string[] => runSql(database, statements);
  sql(setup);
  const told = (args: readonly string[]): unknown =>
    JSON.parse(coffer(home, ["--json", ...args]).stdout);
  return {
    ...home,
    database,
    sql,
    told,
    changes: (plan) => {
      const { sandboxes } = told(["diff", plan]) as {
        readonly sandboxes: readonly {
          readonly changes: readonly { readonly path: string; readonly kind: string }[];
        }[];
      };
      return Object.fromEntries(
        sandboxes.flatMap(({ changes }) => changes.map(({ path: row, kind }) => [row, kind])),
      );
    },
    names: () => readdirSync(join(database, "..")).toSorted(),
  };
}

/** The arguments that start a program with an open database `db`, of the path that it finds it by. */
export function programWith(path: string, body: string): readonly string[] {
  const head = `import { DatabaseSync } from ${JSON.stringify(LIBRARY)};
    const db = new DatabaseSync(${JSON.stringify(path)});`;
  return [node, "--input-type=module", "-e", `${head}\n${body}`];
}

/** The arguments that start a program which runs statements in a database, as any other would. */
export function statementsIn(path: string, statements: string): readonly string[] {
  return programWith(path, `db.exec(${JSON.stringify(statements)}); db.close();`);
}

/** The whole text of a file, byte by byte. */
export function bytesOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "hex") : "missing";
}
