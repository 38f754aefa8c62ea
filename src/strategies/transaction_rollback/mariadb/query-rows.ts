import type { FieldPacket } from "mysql2/promise";
import type { Statement } from "../sql/split-statements.ts";
import { refused } from "../sql/statement-errors.ts";
import { changedRows } from "./changed-rows.ts";
import { shownValue } from "./rows.ts";
import type { Session } from "./session.ts";
import type { ColumnKind } from "./tables.ts";

/** The numbers of the protocol for types of columns. */
const NUMBERS = new Set([0, 1, 2, 3, 4, 5, 8, 9, 13, 246]);
const BIT = 16;
const BYTES = new Set([15, 249, 250, 251, 252, 253, 254, 255]);
const BINARY = 63;

/**
 * The rows of a query as canonical JSON.
 * @throws DatabaseError (`DATABASE`) for a query that changes rows.
 */
export async function queryRows(session: Session, statement: Statement): Promise<string> {
  const before = await changedRows(session);
  const { fields, rows } = await session.query(statement.text);
  if ((await changedRows(session)) !== before)
    throw refused(statement, "failed", "a read must not change rows");
  const kinds = fields.map(kindOfField);
  const texts = rows.map((row) => {
    const values = row.map((value, at) => {
      const kind = kinds[at] ?? "text";
      return `${JSON.stringify(fields[at]?.name ?? "")}:${shownValue(kind, textOf(kind, value))}`;
    });
    return `{${values.join(",")}}`;
  });
  return `[${texts.join(",\n ")}]\n`;
}

function kindOfField({ columnType, characterSet }: FieldPacket): ColumnKind {
  const type = columnType ?? 0;
  if (NUMBERS.has(type)) return "number";
  if (type === BIT) return "bit";
  return BYTES.has(type) && characterSet === BINARY ? "binary" : "text";
}

function textOf(kind: ColumnKind, value: Buffer | null): string | null {
  if (value === null) return null;
  if (kind === "bit") return BigInt(`0x${value.toString("hex")}`).toString();
  return value.toString(kind === "binary" ? "hex" : "utf8");
}
