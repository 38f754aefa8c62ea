import { withImageSettings } from "./image-settings.ts";
import type { Session } from "./session.ts";
import { findTable } from "./tables.ts";

/** `schema.table/key`, as a diff shows it; several columns of a key have commas between them. */
const ADDRESS = /^([^./]+)\.([^./]+)\/([^/]+)$/;

/** The row at an address as canonical JSON; null when there is none, or the text is no address. */
export async function presentKey(session: Session, address: string): Promise<string | null> {
  const parts = ADDRESS.exec(address)
    ?.slice(1)
    .map((part) => part.split(",").map(decoded));
  if (parts === undefined) return null;
  const [[schema = ""] = [], [name = ""] = [], key = []] = parts;
  const table = await findTable(session, { schema, table: name });
  if (table === null || table.key.length !== key.length || key.length === 0) return null;
  const isRow = table.key.map((column, at) => `t.${column} = $${at + 1}`).join(" AND ");
  return withImageSettings(session, async () => {
    const query = `SELECT row_to_json(t, true)::text AS row FROM ONLY ${table.name} t WHERE ${isRow}`;
    const [found] = await session.run(query, key);
    return found === undefined ? null : `${found["row"] ?? ""}\n`;
  });
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not made by a diff, so it is taken as it stands.
    return part;
  }
}
