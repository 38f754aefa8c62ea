/** Where a row is. */
export interface RowAddress {
  readonly schema: string;
  readonly table: string;
  /** The texts of its primary key. */
  readonly key: readonly string[];
}

/** `schema.table/key`, as a diff shows it; several columns of a key have commas between them. */
const ADDRESS = /^([^./]+)\.([^./]+)\/([^/]+)$/;

/** The address of a row; null when a text is none. */
export function parseRowAddress(address: string): RowAddress | null {
  const parts = ADDRESS.exec(address)
    ?.slice(1)
    .map((part) => part.split(",").map(decoded));
  if (parts === undefined) return null;
  const [[schema = ""] = [], [table = ""] = [], key = []] = parts;
  return { schema, table, key };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // Not made by a diff, so it is taken as it stands.
    return part;
  }
}
