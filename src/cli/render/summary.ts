import type { DiffView, PlanDiff } from "../../index.ts";
import type { Style } from "../style.ts";
import { isWithoutWork } from "../is-without-work.ts";
import { commitsText, countText, sizeText, strayText } from "./amounts.ts";
import { printable, shortened } from "./printable.ts";
import { SHOWN_KINDS, amountOf, kindsText, markOf, shownChanges } from "./shown-change.ts";
import type { ShownChange } from "./shown-change.ts";
import { tableOf } from "./rows.ts";

/** How many changes of one kind an overview shows before it only counts them. */
const SHOWN_OF_A_KIND = 10;

/**
 * The overview of a plan's changes: each resource with its counts and the first changes of each kind; what does not fit
 * is counted by kind. Lines are no longer than `width`, unless that is infinite.
 */
export function renderSummary(diff: PlanDiff, style: Style, width: number): string[] {
  const views = Object.entries(diff.resources);
  const lines = views.flatMap(([id, view]) =>
    view.isEmpty && (view.commits ?? view.strayCommits) === undefined
      ? skippedLines(view)
      : [...summaryOf(id, view, style, width), ...skippedLines(view)],
  );
  return isWithoutWork(diff) ? ["Nothing was changed.", ...lines] : lines;
}

function summaryOf(id: string, view: DiffView, style: Style, width: number): string[] {
  return view.unit === "row"
    ? rowsSummary(id, view, style, width)
    : filesSummary(id, view, style, width);
}

function filesSummary(id: string, view: DiffView, style: Style, width: number): string[] {
  const changes = innardsLast(shownChanges(view.changes));
  const edits = `${kindsText(changes)}; ${sizeText(view.summary.bytes)} to publish`;
  const told = [...(view.isEmpty ? [] : [edits]), ...commitsText(view), ...strayText(view)];
  const head = told.join("; ");
  return [
    heading(id, head, style, width),
    ...firstOfEach(changes).map((change) => changeLine(change, style, width)),
    ...moreLines(changes),
  ];
}

/** What people and programs write stands before what git and package managers keep for themselves. */
function innardsLast(changes: readonly ShownChange[]): ShownChange[] {
  const isInside = ({ path }: ShownChange): boolean =>
    /(?:^|\/)(?:\.git|node_modules)\//.test(path);
  return [...changes.filter((change) => !isInside(change)), ...changes.filter(isInside)];
}

function rowsSummary(id: string, view: DiffView, style: Style, width: number): string[] {
  const tables = new Map<string, ShownChange[]>();
  for (const change of shownChanges(view.changes)) {
    const { table } = tableOf(change.path);
    const known = tables.get(table);
    if (known === undefined) tables.set(table, [change]);
    else known.push(change);
  }
  const isSchema = (table: string): boolean => table === "schema-changes";
  const rows = amountOf(view.changes.filter(({ path }) => !isSchema(tableOf(path).table)));
  const statements = amountOf(view.changes) - rows;
  const head = [
    ...(rows > 0 ? [`${countText(rows, "row")} changed`] : []),
    ...(statements > 0
      ? [countText(statements, "change of the schema", "changes of the schema")]
      : []),
  ].join(", ");
  return [
    heading(id, head, style, width),
    ...[...tables].flatMap(([table, changes]) => [
      fitted(
        `  ${table}  ${style.dim(kindsText(changes))}`,
        `  ${table}  ${kindsText(changes)}`,
        width,
      ),
      ...[...new Set(changes.flatMap(({ notes }) => notes))].map((note) =>
        fitted(`    ${style.dim(note)}`, `    ${note}`, width),
      ),
    ]),
  ];
}

function heading(id: string, head: string, style: Style, width: number): string {
  const name = printable(id);
  return name.length + head.length + 2 <= width
    ? `${style.bold(name)}: ${head}`
    : `${style.bold(shortened(name, width))}:\n  ${head}`;
}

/** One change on one line; where it is too long, the name is cut in the middle. */
export function changeLine(
  change: ShownChange,
  style: Style,
  width: number,
  indent = "  ",
): string {
  const details = [...change.details, ...change.notes].join(", ");
  const room = width - indent.length - 2;
  const isWide = change.path.length + 2 + details.length <= room;
  const name = shortened(change.path, isWide ? room : Math.max(8, room));
  const shown = isWide && details !== "" ? `  ${style.dim(details)}` : "";
  return `${indent}${markOf(change.kind, style)} ${name}${shown}`;
}

function firstOfEach(changes: readonly ShownChange[]): ShownChange[] {
  return SHOWN_KINDS.flatMap((kind) =>
    changes.filter((change) => change.kind === kind).slice(0, SHOWN_OF_A_KIND),
  );
}

/** What was not shown, counted by kind. */
function moreLines(changes: readonly ShownChange[]): string[] {
  const left = SHOWN_KINDS.flatMap((kind) =>
    changes.filter((change) => change.kind === kind).slice(SHOWN_OF_A_KIND),
  );
  return left.length === 0
    ? []
    : [`  and ${countText(amountOf(left), "more", "more")}: ${kindsText(left)}`];
}

function skippedLines({ skipped }: DiffView): string[] {
  if (skipped.length === 0) return [];
  const reasons = new Map<string, number>();
  for (const { reason } of skipped) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const text = [...reasons].map(([reason, count]) => `${count} ${printable(reason)}`).join(", ");
  const [first] = skipped;
  return [
    `  left alone: ${text}; ${printable(first?.path ?? "")}${skipped.length > 1 ? " and others" : ""}`,
  ];
}

function fitted(styled: string, plain: string, width: number): string {
  return plain.length <= width ? styled : shortened(plain, width);
}
