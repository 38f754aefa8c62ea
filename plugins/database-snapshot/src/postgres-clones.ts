import { setTimeout as pause } from "node:timers/promises";
import type { DatabaseClones, SandboxAddress } from "cofferdam";
import { addressOf, urlOf } from "./address.ts";
import { copyByDump } from "./copy-by-dump.ts";
import { OBJECT_IN_USE, Server, isCode, literal, quoted } from "./server.ts";

/** Connections that have just been closed are gone soon. */
const SOON_MS = 500;
const PATIENCE_MS = 10_000;
const STEP_MS = 20;

const OTHERS = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
     AND backend_type = 'client backend'
  UNION ALL SELECT 1 FROM pg_prepared_xacts WHERE database = current_database() LIMIT 1`;
const KIND = `SELECT datname AS name, pg_encoding_to_char(encoding) AS encoding, datcollate, datctype,
    to_jsonb(d) ->> 'datlocprovider' AS provider, coalesce(to_jsonb(d) ->> 'daticulocale', to_jsonb(d) ->> 'datlocale') AS locale,
    EXISTS (SELECT 1 FROM pg_settings WHERE name = 'file_copy_method') AS has_clones
  FROM pg_database d WHERE datname = current_database()`;
const SETTINGS = `SELECT split_part(s, '=', 1) AS name, substr(s, strpos(s, '=') + 1) AS value
  FROM pg_db_role_setting r JOIN pg_database d ON d.oid = r.setdatabase, unnest(r.setconfig) s
 WHERE d.datname = current_database() AND r.setrole = 0`;

/** Clones of PostgreSQL's databases, beside them on the same server. */
export class PostgresClones implements DatabaseClones {
  async make(source: string, name: string): Promise<void> {
    await using server = await Server.connect(source);
    await drop(server, source, name);
    if (await isAlone(server)) await copyWhole(server, source, name);
    else await copyBeside(server, source, name);
    await keepSettings(server, name);
    const note = `A clone for a command in a plan of Cofferdam, which also removes it.`;
    await server.run(`COMMENT ON DATABASE ${quoted(name)} IS ${literal(note)}`);
  }

  async rename(source: string, name: string, newName: string): Promise<boolean> {
    await using server = await Server.connect(source);
    if (await isThere(server, newName)) return true;
    if (!(await isThere(server, name))) return false;
    const latest = Date.now() + PATIENCE_MS;
    for (;;) {
      await endAll(server, source, name);
      try {
        await server.run(`ALTER DATABASE ${quoted(name)} RENAME TO ${quoted(newName)}`);
        return true;
      } catch (thrown) {
        if (!isCode(thrown, OBJECT_IN_USE) || Date.now() > latest) throw thrown;
        await pause(STEP_MS);
      }
    }
  }

  async remove(source: string, name: string): Promise<void> {
    await using server = await Server.connect(source);
    await drop(server, source, name);
  }

  urlOf(source: string, name: string): string {
    return urlOf(source, name);
  }

  addressOf(url: string): SandboxAddress {
    return addressOf(url);
  }
}

async function isThere(server: Server, name: string): Promise<boolean> {
  return (await server.run("SELECT 1 FROM pg_database WHERE datname = $1", [name])).length > 0;
}

async function drop(server: Server, source: string, name: string): Promise<void> {
  if (!(await isThere(server, name))) return;
  await rollBackPrepared(server, source, name);
  await server.run(`DROP DATABASE IF EXISTS ${quoted(name)} WITH (FORCE)`);
}

/** Ends everything that is under way in a clone: what was not committed there counts for nothing. */
async function endAll(server: Server, source: string, name: string): Promise<void> {
  await rollBackPrepared(server, source, name);
  await server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [
    name,
  ]);
}

async function rollBackPrepared(server: Server, source: string, name: string): Promise<void> {
  const prepared = await server.run("SELECT gid FROM pg_prepared_xacts WHERE database = $1", [
    name,
  ]);
  if (prepared.length === 0) return;
  await using inside = await Server.connect(urlOf(source, name));
  for (const { gid } of prepared) await inside.run(`ROLLBACK PREPARED ${literal(String(gid))}`);
}

/** Whether nobody else is connected to the database, also after a little while. */
async function isAlone(server: Server): Promise<boolean> {
  const latest = Date.now() + SOON_MS;
  while ((await server.run(OTHERS)).length > 0) {
    if (Date.now() > latest) return false;
    await pause(STEP_MS);
  }
  return true;
}

/** The server copies its own files; where it can share their blocks, it does. */
async function copyWhole(server: Server, source: string, name: string): Promise<void> {
  const [kind] = await server.run(KIND);
  const from = quoted(String(kind?.["name"]));
  const hasClones = kind?.["has_clones"] === true;
  if (hasClones) await server.run("SET file_copy_method = clone");
  const how = hasClones ? "STRATEGY FILE_COPY" : "";
  try {
    await server.run(`CREATE DATABASE ${quoted(name)} TEMPLATE ${from} ${how}`);
  } catch (thrown) {
    // Somebody came meanwhile.
    if (!isCode(thrown, OBJECT_IN_USE)) throw thrown;
    await copyBeside(server, source, name);
  }
}

/** While others work in the database only its contents can be copied. */
async function copyBeside(server: Server, source: string, name: string): Promise<void> {
  const [kind = {}] = await server.run(KIND);
  const options = [
    `ENCODING ${literal(String(kind["encoding"]))}`,
    `LC_COLLATE ${literal(String(kind["datcollate"]))}`,
    `LC_CTYPE ${literal(String(kind["datctype"]))}`,
    ...(kind["provider"] === "i"
      ? [`LOCALE_PROVIDER icu ICU_LOCALE ${literal(String(kind["locale"]))}`]
      : []),
  ];
  await server.run(`CREATE DATABASE ${quoted(name)} TEMPLATE template0 ${options.join(" ")}`);
  await copyByDump(source, urlOf(source, name));
}

/** What was set for the database as a whole is no part of its contents. */
async function keepSettings(server: Server, name: string): Promise<void> {
  for (const setting of await server.run(SETTINGS)) {
    // As it stands there, and quoted by the server itself: lists have rules of their own.
    await server.run("SELECT set_config($1, $2, false)", [setting["name"], setting["value"]]);
    await server.run(`ALTER DATABASE ${quoted(name)} SET ${String(setting["name"])} FROM CURRENT`);
  }
}
