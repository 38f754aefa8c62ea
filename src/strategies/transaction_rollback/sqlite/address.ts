import { SandboxCreationError } from "../../../errors/index.ts";
import type { Connection } from "../connection.ts";

/** What the URL of a connection says. */
export interface SqliteAddress {
  readonly path: string;
  readonly foreignKeys: boolean;
}

const ADDRESS = /^sqlite:(?:\/\/(?=\/))?([^?#]*)(?:\?([^#]*))?$/i;

/**
 * Reads the URL of a connection, such as `sqlite:/data/shop.db?foreign_keys=off`.
 * @throws SandboxCreationError (`SANDBOX_CREATION`, stage `connection`).
 */
export function parseAddress(connection: Connection): SqliteAddress {
  const [, path = "", query = ""] = ADDRESS.exec(connection.address()) ?? [];
  const settings = new URLSearchParams(query);
  const foreignKeys = settings.get("foreign_keys") ?? "on";
  const unknown = [...settings.keys()].filter((name) => name !== "foreign_keys");
  const isGood = path.startsWith("/") && /^(?:on|off)$/.test(foreignKeys) && unknown.length === 0;
  if (isGood) return { path: decodeURIComponent(path), foreignKeys: foreignKeys === "on" };
  throw new SandboxCreationError(`The URL of the connection ${connection.name} is not understood`, {
    data: { stage: "connection", residue: [] },
    operation: "create",
    hint: "Write sqlite: and a path; ?foreign_keys=off is the only setting.",
  });
}
