import { parseRowAddress } from "../sql/row-address.ts";
import { withImageSettings } from "./image-settings.ts";
import type { Session } from "./session.ts";
import { ROW, findTable } from "./tables.ts";

/** The row at an address as canonical JSON; null when there is none, or the text is no address. */
export async function presentKey(session: Session, address: string): Promise<string | null> {
  const parsed = parseRowAddress(address);
  if (parsed === null) return null;
  const { key } = parsed;
  const table = await findTable(session, parsed);
  if (table === null || table.key.length !== key.length || key.length === 0) return null;
  const isRow = table.key.map((column, at) => `${ROW}.${column} = $${at + 1}`).join(" AND ");
  return withImageSettings(session, async () => {
    const query = `SELECT row_to_json(${ROW}, true)::text AS row FROM ONLY ${table.name} ${ROW} WHERE ${isRow}`;
    const [found] = await session.run(query, key);
    return found === undefined ? null : `${found["row"] ?? ""}\n`;
  });
}
