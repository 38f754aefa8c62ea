import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import {
  type Cofferdam,
  type CofferdamOptions,
  type Plan,
  type SandboxRef,
  openCofferdam,
} from "../../../../src/index.ts";
import { tempFolder } from "../../../support/temp.ts";

/** Database files, each behind a connection of its name, with the configuration of somebody who works on them. */
export interface Files {
  readonly folder: string;
  readonly stateDirectory: string;
  readonly config: string;
  /** Where the file of a connection is. */
  path(name: string): string;
  /** Opens another instance, as another process would. */
  open(options?: CofferdamOptions): Promise<Cofferdam>;
  /** Runs statements in a database, with foreign keys; the rows of the last one. */
  sql(name: string, statements: string): string[];
  /** Makes a sandbox of a database. */
  sandbox(cofferdam: Cofferdam, name?: string): Promise<ReturnType<Cofferdam["sandbox"]>>;
  ref(cofferdam: Cofferdam, name?: string): Promise<SandboxRef>;
}

/** Makes databases with what statements put into them. */
export function makeFiles(
  databases: Readonly<Record<string, string>>,
  { settings = "", folder = tempFolder() } = {},
): Files {
  const config = join(folder, "cofferdam.yaml");
  const stateDirectory = join(folder, "state");
  const path = (name: string): string => join(folder, `${name}.db`);
  const names = Object.keys(databases);
  const lines = names.map((name) => `  ${name}: { url: "sqlite:./${name}.db${settings}" }\n`);
  writeFileSync(config, `connections:\n${lines.join("")}`);
  const sql = (name: string, statements: string): string[] => runSql(path(name), statements);
  for (const [name, setup] of Object.entries(databases)) sql(name, setup);
  const ref: Files["ref"] = (cofferdam, name = "shop") =>
    cofferdam.create("plan", { resourceId: name, type: "database", location: name });
  return {
    folder,
    stateDirectory,
    config,
    path,
    open: (options) => openCofferdam({ stateDirectory, config, ...options }),
    sql,
    ref,
    sandbox: async (cofferdam, name) => cofferdam.sandbox(await ref(cofferdam, name)),
  };
}

/** Runs statements in a database file; the rows of the last one, with bars between the values. */
export function runSql(path: string, statements: string): string[] {
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    const parts = statements.split(/;;|;(?=\s*SELECT [^;]*$)/);
    const last = /^\s*SELECT/.test(parts.at(-1) ?? "") ? parts.pop() : undefined;
    for (const part of parts) database.exec(part);
    if (last === undefined) return [];
    const rows = database.prepare(last).all() as Record<string, unknown>[];
    return rows.map((row) => Object.values(row).join("|"));
  } finally {
    database.close();
  }
}

/** The rows of a read as values. */
export function rowsOf(bytes: Uint8Array): unknown {
  return JSON.parse(Buffer.from(bytes).toString("utf8"));
}

/** What every database of a plan, and a directory beside them, holds before. */
export const OLD = { rows: ["1|old", "1|old"], file: "old\n" };
/** And after. */
export const NEW = { rows: ["1|new", "1|new"], file: "new\n" };

const JOBS =
  "CREATE TABLE jobs (id INTEGER PRIMARY KEY, state TEXT); INSERT INTO jobs VALUES (1, 'old')";

/** Two databases and a directory. */
export interface Trio extends Files {
  readonly site: string;
  /** All as they are now, seen from outside. */
  state(): typeof OLD;
  /** A plan with a change in all three. */
  plan(cofferdam: Cofferdam): Promise<Plan>;
}

/** Makes them; `modes` may put a database into WAL mode. */
export function makeTrio({ modes = ["", ""] } = {}): Trio {
  const [shop, store] = modes.map((mode) =>
    mode === "" ? JOBS : `PRAGMA journal_mode = ${mode};; ${JOBS}`,
  );
  const files = makeFiles({ shop: shop ?? JOBS, store: store ?? JOBS });
  const site = join(files.folder, "site");
  mkdirSync(site);
  writeFileSync(join(site, "page"), OLD.file);
  return {
    ...files,
    site,
    state: () => ({
      rows: ["shop", "store"].flatMap((name) => files.sql(name, "SELECT * FROM jobs")),
      file: readFileSync(join(site, "page"), "utf8"),
    }),
    plan: async (cofferdam) => {
      const plan = await cofferdam.plan("plan", [
        { id: "shop", type: "database", location: "shop" },
        { id: "store", type: "database", location: "store" },
        { id: "site", type: "fs-directory", location: site, sandboxStrategy: "filesystem_copy" },
      ]);
      for (const id of ["shop", "store"])
        await plan.sandbox(id).write("job.sql", "UPDATE jobs SET state = 'new'");
      await plan.sandbox("site").write("page", NEW.file);
      return plan;
    },
  };
}
