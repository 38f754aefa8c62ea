import type { Change, EntryState } from "../../index.ts";
import type { Style } from "../style.ts";
import { countText, numberText, sizeText } from "./amounts.ts";
import { printable } from "./printable.ts";

/** What happened to an entry, as people say it; a renamed entry is one thing. */
export const SHOWN_KINDS = [
  "added",
  "modified",
  "deleted",
  "renamed",
  "retyped",
  "mode",
  "link",
  "attributes",
] as const;

/** One of the kinds that people see. */
export type ShownKind = (typeof SHOWN_KINDS)[number];

/** One line of an overview. */
export interface ShownChange {
  readonly kind: ShownKind;
  readonly path: string;
  /** How many there are of it. */
  readonly count: number;
  /** Sizes, modes, owners and whatever else differs. */
  readonly details: readonly string[];
  readonly notes: readonly string[];
}

const KINDS: Readonly<Record<Change["kind"], ShownKind>> = {
  added: "added",
  modified: "modified",
  deleted: "deleted",
  typeChanged: "retyped",
  modeChanged: "mode",
  linkChanged: "link",
  attributesChanged: "attributes",
  unchanged: "modified",
};

const MARKS: Readonly<Record<ShownKind, string>> = {
  added: "+",
  modified: "~",
  deleted: "-",
  renamed: ">",
  retyped: "!",
  mode: "m",
  link: "@",
  attributes: "a",
};

const WORDS: Readonly<Record<ShownKind, string>> = {
  added: "added",
  modified: "modified",
  deleted: "deleted",
  renamed: "renamed",
  retyped: "of another type",
  mode: "with another mode",
  link: "with another target",
  attributes: "with other attributes",
};

/** The sign of a kind in its colour. */
export function markOf(kind: ShownKind, style: Style): string {
  const mark = MARKS[kind];
  if (kind === "added") return style.good(mark);
  return kind === "deleted" ? style.bad(mark) : style.notable(mark);
}

/** The changes as people see them: what was renamed is one, everything else stays. */
export function shownChanges(changes: readonly Change[]): ShownChange[] {
  const added = new Set(
    changes.flatMap(({ renamedFrom }) => (renamedFrom === undefined ? [] : [renamedFrom])),
  );
  return changes
    .filter(({ renamedTo, path }) => renamedTo === undefined || !added.has(path))
    .map(shown);
}

/** How many there are of each kind, in words: `9,000 added, 812 modified`. */
export function kindsText(changes: readonly ShownChange[]): string {
  const parts = SHOWN_KINDS.flatMap((kind) => {
    const count = amountOf(changes.filter((change) => change.kind === kind));
    return count === 0 ? [] : [countText(count, WORDS[kind], WORDS[kind])];
  });
  return parts.join(", ");
}

/** How many things changed: equal rows stand at one path. */
export function amountOf(changes: readonly Pick<Change, "count">[]): number {
  return changes.reduce((sum, { count = 1 }) => sum + count, 0);
}

/** What is told of equal rows, of which only one is shown. */
export function likeText({ count = 1 }: Pick<Change, "count">): string[] {
  return count === 1 ? [] : [`${numberText(count)} rows like this`];
}

function shown(change: Change): ShownChange {
  const { path, count = 1, renamedFrom, renamedTo, notes = [], before, after } = change;
  const isFolder = (after ?? before)?.type === "directory";
  const name = `${printable(path)}${isFolder ? "/" : ""}`;
  const isRenamed = renamedFrom !== undefined;
  return {
    kind: isRenamed ? "renamed" : KINDS[change.kind],
    path: isRenamed ? `${printable(renamedFrom)} → ${name}` : name,
    count,
    details: [
      ...(renamedTo === undefined ? [] : [`moved to ${printable(renamedTo)}`]),
      ...detailsOf(change),
      ...likeText(change),
    ],
    notes: notes.map(printable),
  };
}

function detailsOf({ before, after, notes = [] }: Change): string[] {
  if (before === null || after === null) return sideOf(after ?? before);
  if (before.type !== after.type) return [`${before.type} → ${after.type}`];
  const details: string[] = [];
  const grown = after.size - before.size;
  if (before.target !== after.target)
    details.push(`${printable(before.target ?? "")} → ${printable(after.target ?? "")}`);
  else if (after.type !== "directory" && (before.hash !== after.hash || grown !== 0))
    details.push(
      grown === 0 ? "same size" : `${grown < 0 ? "-" : "+"}${sizeText(Math.abs(grown))}`,
    );
  if (before.mode !== after.mode) details.push(`mode ${octal(before)} → ${octal(after)}`);
  if (before.uid !== after.uid || before.gid !== after.gid)
    details.push(`owner ${before.uid}:${before.gid} → ${after.uid}:${after.gid}`);
  details.push(...attributesText(before.xattrs ?? {}, after.xattrs ?? {}));
  const isUntold = details.length === 0 && notes.length === 0;
  if (isUntold && before.mtimeNs !== after.mtimeNs) details.push("time");
  return details;
}

function sideOf(side: EntryState | null): string[] {
  if (side?.type === "symlink") return [`link to ${printable(side.target ?? "")}`];
  if (side?.type === "file") return [sizeText(side.size)];
  return side?.type === "directory" ? ["folder"] : ["special file"];
}

function attributesText(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): string[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => {
      const sign = before[name] === undefined ? "+" : after[name] === undefined ? "-" : "~";
      return `xattr ${sign}${printable(name)}`;
    });
}

function octal({ mode }: EntryState): string {
  return mode.toString(8).padStart(4, "0");
}
