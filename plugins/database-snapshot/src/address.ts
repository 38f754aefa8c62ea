import type { SandboxAddress } from "cofferdam";
import { Client } from "pg";

/** What a URL may say about encryption, and the variables in which clients of PostgreSQL look for it. */
const ENCRYPTION = {
  sslmode: "PGSSLMODE",
  sslrootcert: "PGSSLROOTCERT",
  sslcert: "PGSSLCERT",
  sslkey: "PGSSLKEY",
} as const;

/** The URL of another database of the same server. */
export function urlOf(source: string, name: string): string {
  const url = new URL(source);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

/** The database that a URL leads to, in the words of clients: a URL for some, single variables for others. */
export function addressOf(url: string): SandboxAddress {
  const { host, port, user = "", database = "", password } = new Client(url);
  const given = new URL(url).searchParams;
  const encryption = Object.entries(ENCRYPTION).flatMap(([name, variable]) => {
    const value = given.get(name);
    return value === null ? [] : [[variable, value] as const];
  });
  return {
    environment: {
      DATABASE_URL: url,
      PGHOST: host,
      PGPORT: String(port),
      PGUSER: user,
      PGDATABASE: database,
      ...(typeof password === "string" && password !== "" && { PGPASSWORD: password }),
      ...Object.fromEntries(encryption),
      // Clients believe these more than the others.
      PGSERVICE: null,
      PGHOSTADDR: null,
    },
    needsNetwork: !host.startsWith("/"),
  };
}
