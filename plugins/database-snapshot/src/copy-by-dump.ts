import { type ChildProcess, spawn } from "node:child_process";
import { addressOf } from "./address.ts";
import { failure } from "./server.ts";

const TOLD_BYTES = 2000;

/**
 * Fills an empty database with what another one holds at one moment, while others work in that one. It takes the
 * programs pg_dump and pg_restore.
 * @throws DatabaseError (`DATABASE`, reason `failed`).
 */
export async function copyByDump(source: string, target: string): Promise<void> {
  const dump = spawn("pg_dump", ["--format=custom", "--compress=0"], {
    env: environmentOf(source),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const restore = spawn(
    "pg_restore",
    ["--exit-on-error", "--single-transaction", `--dbname=${databaseOf(target)}`],
    { env: environmentOf(target), stdio: [dump.stdout, "ignore", "pipe"] },
  );
  // Only the other program reads it: then it ends when that one does.
  dump.stdout.destroy();
  const [dumped, restored] = await Promise.all([endOf(dump), endOf(restore)]);
  const problem = dumped ?? restored;
  if (problem === null) return;
  throw failure(
    "Others are connected to the database, and it could not be copied beside them",
    problem,
    "failed",
    "End the other connections to it, or install pg_dump of the server's version, then try again.",
  );
}

function environmentOf(url: string): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env;
  const { environment } = addressOf(url);
  const set = Object.entries(environment).filter(([, value]) => value !== null);
  return { PATH, HOME, LC_ALL: "C", ...Object.fromEntries(set) };
}

function databaseOf(url: string): string {
  return addressOf(url).environment["PGDATABASE"] ?? "";
}

/** Null when a program did its work, else what it said. */
async function endOf(child: ChildProcess): Promise<string | null> {
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = `${said}${text}`.slice(0, TOLD_BYTES);
  });
  return new Promise((resolve) => {
    child.once("error", ({ message }) => {
      resolve(message);
    });
    child.once("close", (code) => {
      resolve(
        code === 0 ? null : said.trim() || `${child.spawnfile} ended with ${code ?? "a signal"}`,
      );
    });
  });
}
