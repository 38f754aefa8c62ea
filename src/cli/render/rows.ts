import type { DiffView } from "../../index.ts";
import type { Page } from "../call.ts";
import { isAtOrBelow } from "../is-at-or-below.ts";
import { compareNaturally } from "./natural-order.ts";
import { printable, shortened } from "./printable.ts";
import { likeText, markOf } from "./shown-change.ts";

/** Where a changed row belongs. */
export interface RowPlace {
  readonly table: string;
  readonly key: string;
}

/** The table and the key that a path of a database's diff names. */
export function tableOf(path: string): RowPlace {
  const at = path.indexOf("/");
  if (at < 0) return { table: path, key: "" };
  return { table: path.slice(0, at), key: path.slice(at + 1) };
}

/** A row is written as JSON with one column on a line. */
const COLUMN = /^[\s{]*("(?:[^"\\]|\\.)*"):\s*(.*?)[,}]?$/;
const KINDS = { added: "added", deleted: "deleted" } as const;

/**
 * The changed rows of a database, by table, with old and new values. Values are shown as the sandbox writes them, never
 * by way of numbers of JavaScript.
 */
export async function renderRows(
  view: DiffView,
  paths: readonly string[] | undefined,
  { style, width }: Page,
): Promise<string[]> {
  const text = await view.text({ context: 1_000_000, ...(paths !== undefined && { paths }) });
  const parts = text.split(/^diff --coffer .*\n/m).slice(1);
  const wanted = view.changes
    .filter(({ path }) => isWanted(path, paths))
    .map((change, at) => ({ change, part: parts[at] ?? "", place: tableOf(change.path) }))
    .toSorted((a, b) => comparePlaces(a.place, b.place));
  const lines: string[] = [];
  let last = "";
  for (const { change, part, place } of wanted) {
    const { table, key } = place;
    if (table !== last) lines.push(style.bold(printable(table)));
    last = table;
    const kind = change.kind in KINDS ? KINDS[change.kind as keyof typeof KINDS] : "modified";
    const mark = markOf(kind, style);
    if (table === "schema-changes") {
      lines.push(...contentOf(part, "+").map((line) => `  ${mark} ${printable(line)}`));
      const notes = (change.notes ?? []).map((note) => `(${printable(note)})`);
      lines.push(...notes.flatMap((note) => wrapped(note, width - 4).map((one) => `    ${one}`)));
      continue;
    }
    const values = valuesOf(part).map(printable);
    const like = likeText(change).map((text) => `(${text})`);
    const whole = [printable(key), values.join(", "), ...like].join("  ");
    if (whole.length + 4 <= width) lines.push(`  ${mark} ${whole}`);
    else {
      lines.push(`  ${mark} ${shortened(printable(key), width - 4)}`);
      lines.push(
        ...[...values, ...like].flatMap((value) =>
          wrapped(value, width - 6).map((one) => `      ${one}`),
        ),
      );
    }
  }
  return lines;
}

/** By table, and in it by key, the seventh row before the tenth. */
function comparePlaces(left: RowPlace, right: RowPlace): number {
  return left.table === right.table
    ? compareNaturally(left.key, right.key)
    : compareNaturally(left.table, right.table);
}

/** Whether a path is one of the wanted ones, or below one. */
export function isWanted(path: string, paths: readonly string[] | undefined): boolean {
  return paths === undefined || paths.some((wanted) => isAtOrBelow(path, wanted));
}

/** Nothing is cut off: a value that is too long goes on in the next line. */
function wrapped(text: string, width: number): string[] {
  if (!Number.isFinite(width) || width < 8) return [text];
  const lines: string[] = [];
  for (let at = 0; at < text.length; at += width) lines.push(text.slice(at, at + width));
  return lines;
}

function contentOf(part: string, sign: string): string[] {
  const body = part.slice(Math.max(0, part.search(/^@@/m)));
  return body
    .split("\n")
    .filter((line) => line.startsWith(sign))
    .map((line) => line.slice(1));
}

/** What each column was and is; the columns that stayed are left out where a row was modified. */
function valuesOf(part: string): string[] {
  const [before, after] = [columnsIn(part, "-"), columnsIn(part, "+")];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].flatMap((name) => {
    const [old, now] = [before.get(name), after.get(name)];
    if (old === undefined || now === undefined) return [`${name}: ${old ?? now ?? ""}`];
    // Only the comma behind it changed.
    return old === now ? [] : [`${name}: ${old} → ${now}`];
  });
}

function columnsIn(part: string, sign: string): Map<string, string> {
  const columns = new Map<string, string>();
  for (const line of contentOf(part, sign)) {
    const [, name, value] = COLUMN.exec(line) ?? [];
    if (name !== undefined && value !== undefined) columns.set(JSON.parse(name) as string, value);
  }
  return columns;
}
