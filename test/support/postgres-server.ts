import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chownSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { DatabaseServer, TestDatabase } from "./database-server.ts";
import { freePort } from "./free-port.ts";
import { nobody } from "./nobody.ts";
import { removeFolder } from "./remove-folder.ts";
import { createTempFolder } from "./temp.ts";

export type { TestDatabase } from "./database-server.ts";

const INSTALLED = "/usr/lib/postgresql";
const OURS = "FROM pg_stat_activity WHERE application_name ~ '^cofferdam'";
const PATIENCE_MS = 30_000;

/** Settings of a server that differ from the usual ones; the keys are those of postgresql.conf. */
export type ServerSettings = Readonly<Record<string, string | number>>;

/**
 * A real PostgreSQL on loopback with its data in a temp folder, run by an ordinary user. Everything is flushed to disk as
 * on any other server. Whoever starts it disposes it.
 */
export class PostgresServer implements DatabaseServer {
  readonly port: number;
  readonly scheme = "postgres";
  readonly #folder: string;
  readonly #settings: ServerSettings;
  readonly #password: string;
  #process: ChildProcess | null = null;

  private constructor(folder: string, port: number, settings: ServerSettings, password: string) {
    this.#folder = folder;
    this.port = port;
    this.#settings = settings;
    this.#password = password;
  }

  /** Makes a new server and waits until it answers. */
  static async start(settings: ServerSettings = {}): Promise<PostgresServer> {
    const folder = createTempFolder({ mode: 0o755 });
    const data = join(folder, "data");
    const password = randomBytes(12).toString("hex");
    writeFileSync(join(folder, "password"), `${password}\n`);
    mkdirSync(data, { mode: 0o700 });
    if (isRoot()) chownSync(data, nobody.uid, nobody.gid);
    const access = ["--auth=scram-sha-256", `--pwfile=${join(folder, "password")}`];
    const form = ["--username=postgres", "--encoding=UTF8", "--locale=C"];
    execFileSync(program("initdb"), ["-D", data, ...access, ...form], {
      ...asServer(),
      stdio: "pipe",
    });
    const server = new PostgresServer(folder, await freePort(), settings, password);
    await server.resume();
    return server;
  }

  /** Starts the process and waits until it answers. */
  async resume(): Promise<void> {
    const settings = {
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      max_prepared_transactions: 20,
      max_connections: 60,
      shared_buffers: "16MB",
      ...this.#settings,
    };
    const given = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const log = openSync(join(this.#folder, "log"), "a");
    const args = ["-D", join(this.#folder, "data"), "-p", String(this.port), ...given];
    this.#process = spawn(program("postgres"), args, {
      ...asServer(),
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    const latest = Date.now() + PATIENCE_MS;
    while (!this.#answers()) {
      if (Date.now() > latest) throw new Error(`no PostgreSQL on port ${this.port}`);
      await pause(50);
    }
  }

  /**
   * Ends the server: `fast` in good order, `immediate` without a last checkpoint, as in a crash, `killed` by SIGKILL of
   * all its processes.
   */
  async halt(how: "fast" | "immediate" | "killed" = "fast"): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, "exit");
    if (how === "killed") for (const pid of familyOf(child)) process.kill(pid, "SIGKILL");
    else child.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
    await ended;
  }

  /** Makes a database that belongs to a role of its own. */
  createDatabase(): TestDatabase {
    const name = `db_${randomBytes(6).toString("hex")}`;
    const [role, password] = [`role_${name}`, randomBytes(12).toString("hex")];
    this.sql(
      "postgres",
      `CREATE ROLE ${role} LOGIN PASSWORD '${password}'; CREATE DATABASE ${name} OWNER ${role}`,
    );
    const url = `${this.scheme}://${role}:${password}@127.0.0.1:${this.port}/${name}`;
    return { name, role, password, url };
  }

  /** What psql answers: one text a row, columns separated by bars. */
  sql(database: string | TestDatabase, statements: string): string[] {
    const { name, role, password } =
      typeof database === "string"
        ? { name: database, role: "postgres", password: this.#password }
        : database;
    const where = ["-h", "127.0.0.1", "-p", String(this.port), "-U", role, "-d", name];
    const how = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"];
    // Not the one of the search path, which Debian makes a script that looks for this one.
    const text = execFileSync(program("psql"), [...how, ...where, "-f", "-"], {
      input: statements,
      env: { ...process.env, PGPASSWORD: password, PGCONNECT_TIMEOUT: "5" },
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"],
    });
    return text.split("\n").filter((line) => line !== "");
  }

  /** The names of everything that stands prepared. */
  prepared(): string[] {
    return this.sql("postgres", "SELECT gid FROM pg_prepared_xacts");
  }

  settlePrepared(database: TestDatabase, name: string, decision: "COMMIT" | "ROLLBACK"): void {
    this.sql(database, `${decision} PREPARED '${name}'`);
  }

  schemaOf(): string {
    return "public";
  }

  /** The answer to a statement ends with the tag of what was done. */
  isAnswer(bytes: Buffer, statement: string): boolean {
    return bytes.includes(statement);
  }

  locks({ name }: TestDatabase): string[] {
    const where = `JOIN pg_database d ON d.oid = l.database WHERE d.datname = '${name}'`;
    return this.sql("postgres", `SELECT locktype FROM pg_locks l ${where}`);
  }

  setPassword({ role }: TestDatabase, password: string): void {
    this.sql("postgres", `ALTER ROLE ${role} PASSWORD '${password}'`);
  }

  /** The connections of sandboxes. */
  connections(): string[] {
    return this.sql("postgres", `SELECT pid ${OURS}`);
  }

  /** Cuts all connections of sandboxes. */
  cutConnections(): void {
    this.sql("postgres", `SELECT pg_terminate_backend(pid) ${OURS}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.halt("immediate");
    removeFolder(this.#folder);
  }

  #answers(): boolean {
    try {
      return this.sql("postgres", "SELECT 1")[0] === "1";
    } catch {
      // Not yet.
      return false;
    }
  }
}

/** Debian keeps the programs of a server outside of the search path. */
function program(name: string): string {
  const [newest] = readdirSync(INSTALLED).sort((a, b) => Number(b) - Number(a));
  if (newest === undefined) throw new Error(`no PostgreSQL below ${INSTALLED}: run scripts/setup`);
  return join(INSTALLED, newest, "bin", name);
}

/** A process with the ones that it started, itself first. */
function familyOf({ pid }: ChildProcess): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  return [pid ?? 0, ...children.filter((one) => one !== "").map(Number)].filter((one) => one > 0);
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** A server refuses to be run by root. */
function asServer(): { readonly uid?: number; readonly gid?: number } {
  return isRoot() ? nobody : {};
}
