import { readFileSync } from "node:fs";
import type { ConnectionOptions, SslOptions } from "mysql2/promise";

/** How much of an encrypted connection is checked, by the names that the server's own clients have for it. */
const MODES: Readonly<Record<string, SslOptions | null>> = {
  disabled: null,
  required: { rejectUnauthorized: false },
  verify_ca: { rejectUnauthorized: true, verifyIdentity: false },
  verify_identity: { rejectUnauthorized: true, verifyIdentity: true },
};

/** What the URL of a connection says to the client library. */
export function targetOf(address: string): ConnectionOptions {
  const { hostname, port, username, password, pathname, searchParams } = new URL(address);
  const ssl = sslOf(searchParams);
  return {
    host: decodeURIComponent(hostname).replaceAll(/^\[|\]$/g, ""),
    port: port === "" ? 3306 : Number(port),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    ...(ssl !== null && { ssl }),
  };
}

/** Encryption as `ssl-mode` and `ssl-ca` ask for it; a file of authorities alone means that they count. */
function sslOf(given: URLSearchParams): SslOptions | null {
  const authorities = given.get("ssl-ca");
  const named = given.get("ssl-mode") ?? (authorities === null ? "disabled" : "verify_identity");
  const mode = MODES[named.toLowerCase()];
  if (mode === undefined)
    throw new Error(`ssl-mode is ${Object.keys(MODES).join(", ")}, not ${named}`);
  if (mode === null || authorities === null) return mode;
  return { ...mode, ca: readFileSync(authorities, "utf8") };
}
