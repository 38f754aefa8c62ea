import { Connection } from "../connection.ts";
import type { DatabaseCloneCalls } from "../engine.ts";
import type { SessionSource } from "../sql/kept-session.ts";
import { notCaptured } from "../sql/not-captured.ts";
import { compareClones } from "./compare.ts";
import { redo } from "./redo.ts";
import { Session } from "./session.ts";

const UNREADABLE = `SELECT format('%I.%I', n.nspname, c.relname) AS name
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'm') AND n.nspname !~ '^(pg_|information_schema$)'
   AND NOT has_table_privilege(c.oid, 'SELECT') LIMIT 1`;

/** The database that is cloned. */
export interface ClonedDatabase {
  readonly connection: Connection;
  /** Gives a session that leads to the very database of the sandbox. */
  enter(): Promise<Session>;
  /** Ends the connections that are kept. */
  release(): Promise<void>;
}

/** What can be done with clones of a database. */
export function cloneCalls({ connection, enter, release }: ClonedDatabase): DatabaseCloneCalls {
  const to = (url: string): SessionSource<Session> => {
    const name = `${connection.name} (a clone)`;
    return { connection: new Connection(name, { url, passwordFile: null }), idle: null };
  };
  return {
    source: async () => {
      await (await enter())[Symbol.asyncDispose]();
      await release();
      return connection.address();
    },
    requireComparable: async () => {
      await using session = await enter();
      const [found] = await session.run(UNREADABLE);
      if (found !== undefined)
        throw notCaptured(`the role of the connection may not read ${found["name"] ?? ""}`);
    },
    apply: async (log, url) => {
      await using session = await Session.open(to(url));
      await session.run("BEGIN");
      await redo(session, log);
      await session.run("SET CONSTRAINTS ALL IMMEDIATE");
      await session.run("COMMIT");
    },
    compare: (before, after) => compareClones(to(before), to(after)),
  };
}
