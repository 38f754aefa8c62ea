import type { Page } from "../call.ts";
import { shortened } from "./printable.ts";

/** Rows in columns, the first row in bold; the widest column gives way where the terminal is too narrow. */
export function renderTable(
  rows: readonly (readonly string[])[],
  { style, width }: Page,
): string[] {
  const columns = rows[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, at) =>
    Math.max(0, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const room = width - 2 * (columns - 1);
  while (sum(widths) > room && Math.max(...widths) > 6) {
    widths[widths.indexOf(Math.max(...widths))]! -= 1;
  }
  return rows.map((row, number) => {
    const cells = row.map((cell, at) => shortened(cell, widths[at]!).padEnd(widths[at]!));
    const line = cells.join("  ").trimEnd();
    return number === 0 ? style.bold(line) : line;
  });
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
