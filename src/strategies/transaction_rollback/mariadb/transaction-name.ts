import { createHash } from "node:crypto";

/** How a transaction is known on the server. */
export interface TransactionName {
  /** As it stands in a statement. */
  readonly xid: string;
  /** As the list of prepared transactions shows it: both lengths, and both parts without anything between them. */
  readonly listed: string;
  /** The lock that the connection has which prepares it. */
  readonly lock: string;
}

/** The server takes two parts of so many bytes. */
const LONGEST = 64;
const NAME = /^([\w:.-]+):(\d+(?::back)?)$/;

/** The name of a transaction as this kind of server takes it; the same one gives the same every time. */
export function transactionName(name: string): TransactionName {
  const [, whole, branch] = NAME.exec(name) ?? [];
  if (whole === undefined || branch === undefined)
    throw new Error("this is no name of a transaction");
  const group = whole.length <= LONGEST ? whole : digest(whole);
  return {
    xid: `'${group}','${branch}'`,
    listed: `${group.length} ${branch.length} ${group}${branch}`,
    lock: `cofferdam ${digest(name).slice(0, 32)}`,
  };
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
