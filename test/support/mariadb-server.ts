import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { DatabaseServer, TestDatabase } from "./database-server.ts";
import { freePort } from "./free-port.ts";
import { nobody } from "./nobody.ts";
import { removeFolder } from "./remove-folder.ts";
import { createTempFolder } from "./temp.ts";

const PATIENCE_MS = 30_000;

/**
 * A real MariaDB on loopback with its data in a temp folder, run by an ordinary user. Everything is flushed to disk as
 * on any other server. Whoever starts it disposes it.
 */
export class MariadbServer implements DatabaseServer {
  readonly port: number;
  readonly scheme = "mariadb";
  readonly #folder: string;
  readonly #settings: readonly string[];
  #process: ChildProcess | null = null;

  private constructor(folder: string, port: number, settings: readonly string[]) {
    this.#folder = folder;
    this.port = port;
    this.#settings = settings;
  }

  /** Makes a new server and waits until it answers; settings are options of mariadbd. */
  static async start(...settings: readonly string[]): Promise<MariadbServer> {
    const folder = createTempFolder({ mode: 0o755 });
    for (const name of ["data", "scratch"]) {
      mkdirSync(join(folder, name), { mode: 0o700 });
      if (isRoot()) chownSync(join(folder, name), nobody.uid, nobody.gid);
    }
    const server = new MariadbServer(folder, await freePort(), settings);
    const how = [
      "--auth-root-authentication-method=normal",
      "--skip-test-db",
      "--skip-name-resolve",
    ];
    execFileSync("mariadb-install-db", ["--no-defaults", ...how, ...server.#places()], {
      ...asServer(),
      stdio: "pipe",
    });
    await server.resume();
    return server;
  }

  /** Starts the process and waits until it answers. */
  async resume(): Promise<void> {
    const log = openSync(join(this.#folder, "log"), "a");
    const args = [
      "--no-defaults",
      ...this.#places(),
      `--socket=${this.#socket}`,
      `--port=${this.port}`,
      "--bind-address=127.0.0.1",
      "--skip-name-resolve",
      "--innodb-buffer-pool-size=32M",
      "--innodb-log-file-size=16M",
      ...this.#settings,
    ];
    this.#process = spawn("mariadbd", args, { ...asServer(), stdio: ["ignore", log, log] });
    closeSync(log);
    const latest = Date.now() + PATIENCE_MS;
    while (!this.#answers()) {
      if (Date.now() > latest) throw new Error(`no MariaDB on port ${this.port}`);
      await pause(50);
    }
  }

  /** Ends the server: `fast` in good order, otherwise by kill -9. */
  async halt(how: "fast" | "immediate" | "killed" = "fast"): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return;
    const ended = once(child, "exit");
    child.kill(how === "fast" ? "SIGTERM" : "SIGKILL");
    await ended;
  }

  /** Makes a database with a user of its own. */
  createDatabase(): TestDatabase {
    const name = `db_${randomBytes(6).toString("hex")}`;
    const [role, password] = [`user_${name}`, randomBytes(12).toString("hex")];
    this.sql(
      "mysql",
      `CREATE DATABASE ${name} CHARACTER SET utf8mb4;
       CREATE USER ${role}@'127.0.0.1' IDENTIFIED BY '${password}';
       GRANT ALL ON ${name}.* TO ${role}@'127.0.0.1';
       GRANT PROCESS ON *.* TO ${role}@'127.0.0.1'`,
    );
    const url = `${this.scheme}://${role}:${password}@127.0.0.1:${this.port}/${name}`;
    return { name, role, password, url };
  }

  /** What the client answers: one text a row, columns separated by bars. */
  sql(database: string | TestDatabase, statements: string): string[] {
    const access =
      typeof database === "string"
        ? [`--socket=${this.#socket}`, "--user=root", database]
        : ["-h127.0.0.1", `-P${this.port}`, `-u${database.role}`, database.name];
    const env =
      typeof database === "string" ? process.env : { ...process.env, MYSQL_PWD: database.password };
    const how = ["--no-defaults", "--batch", "--skip-column-names", "--connect-timeout=5"];
    const text = execFileSync("mariadb", [...how, "--default-character-set=utf8mb4", ...access], {
      input: statements,
      env,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"],
    });
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.replaceAll("\t", "|"));
  }

  /** The names of everything that stands prepared. */
  prepared(): string[] {
    return this.sql("mysql", "XA RECOVER").map((line) => line.split("|")[3] ?? "");
  }

  /** Both parts of the name stand together in the list; nobody can settle before the connection that prepared is gone. */
  settlePrepared(_database: TestDatabase, name: string, decision: "COMMIT" | "ROLLBACK"): void {
    this.cutConnections();
    for (const latest = Date.now() + PATIENCE_MS; this.connections().length > 0;)
      if (Date.now() > latest) throw new Error("a connection goes on");
    this.sql("mysql", `XA ${decision} '${name.slice(0, -1)}','${name.slice(-1)}'`);
  }

  schemaOf({ name }: TestDatabase): string {
    return name;
  }

  /** A client says one thing at a time, so that whatever comes next is the answer. */
  isAnswer(): boolean {
    return true;
  }

  /** Every transaction that is open, in any database. */
  locks(): string[] {
    return this.sql("mysql", "SELECT trx_id FROM information_schema.INNODB_TRX");
  }

  setPassword({ role }: TestDatabase, password: string): void {
    this.sql("mysql", `ALTER USER ${role}@'127.0.0.1' IDENTIFIED BY '${password}'`);
  }

  /** The connections of sandboxes: whoever came over the network is one. */
  connections(): string[] {
    const ours = "FROM information_schema.PROCESSLIST WHERE HOST LIKE '127.0.0.1:%'";
    return this.sql("mysql", `SELECT ID ${ours}`);
  }

  /** Cuts all connections of sandboxes. */
  cutConnections(): void {
    for (const id of this.connections()) this.sql("mysql", `KILL ${id}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.halt("immediate");
    removeFolder(this.#folder);
  }

  get #socket(): string {
    return join(this.#folder, "scratch", "socket");
  }

  #places(): readonly string[] {
    return [`--datadir=${join(this.#folder, "data")}`, `--tmpdir=${join(this.#folder, "scratch")}`];
  }

  #answers(): boolean {
    try {
      return this.sql("mysql", "SELECT 1")[0] === "1";
    } catch {
      // Not yet.
      return false;
    }
  }
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** A server refuses to be run by root. */
function asServer(): { readonly uid?: number; readonly gid?: number } {
  return isRoot() ? nobody : {};
}
