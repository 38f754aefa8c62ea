import { parseRowAddress } from "../sql/row-address.ts";
import { readKeys } from "./rows.ts";
import type { Session } from "./session.ts";
import { findTable } from "./tables.ts";

/** The row at an address as canonical JSON; null when there is none, or the text is no address. */
export async function presentKey(session: Session, address: string): Promise<string | null> {
  const parsed = parseRowAddress(address);
  if (parsed === null) return null;
  const table = await findTable(session, parsed);
  if (table === null || table.unfit !== null) return null;
  const { key } = parsed;
  if (table.key.length !== key.length || table.key.length === 0) return null;
  const isValue = table.key.every(
    ({ kind }, at) => kind === "text" || PLAIN[kind].test(key[at] ?? ""),
  );
  if (!isValue) return null;
  await session.be("own");
  const [found] = await readKeys(session, table, [key]);
  return found?.row ?? null;
}

const PLAIN = { number: /^-?\d+(\.\d+)?$/, bit: /^\d+$/, binary: /^([0-9a-f]{2})*$/ } as const;
