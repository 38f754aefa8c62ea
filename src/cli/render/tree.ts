import type { DiffView } from "../../index.ts";
import type { Page } from "../call.ts";
import { commitsText, countText, strayText } from "./amounts.ts";
import { printable, shortened } from "./printable.ts";
import { amountOf, kindsText, shownChanges } from "./shown-change.ts";
import type { ShownChange } from "./shown-change.ts";
import { changeLine } from "./summary.ts";

/** How many entries of one folder the tree shows before it only counts them. */
const SHOWN_IN_A_FOLDER = 12;

interface Folder {
  readonly folders: Map<string, Folder>;
  readonly changes: ShownChange[];
}

/** The changes of a resource as a tree of folders; what does not fit in a folder is counted by kind. */
export function renderTree(id: string, view: DiffView, { style, width }: Page): string[] {
  const changes = shownChanges(view.changes);
  const root = newFolder();
  for (const change of changes) place(root, change);
  const counts = changes.length === 0 ? "nothing was changed" : kindsText(changes);
  const told = [counts, ...commitsText(view), ...strayText(view)].join("; ");
  const head = `${style.bold(shortened(printable(id), width))}  ${told}`;
  return [head, ...linesOf(root, "", { style, width })];
}

function newFolder(): Folder {
  return { folders: new Map(), changes: [] };
}

/** What was renamed stands where it is now. */
function place(root: Folder, change: ShownChange): void {
  const now = change.kind === "renamed" ? change.path.split(" → ").at(-1)! : change.path;
  const parts = now.replace(/\/$/, "").split("/");
  const name = parts.pop()!;
  let folder = root;
  for (const part of parts) {
    const next = folder.folders.get(part) ?? newFolder();
    folder.folders.set(part, next);
    folder = next;
  }
  const from = change.kind === "renamed" ? [`from ${change.path.split(" → ")[0]!}`] : [];
  const isFolder = now.endsWith("/");
  folder.changes.push({
    ...change,
    path: isFolder ? `${name}/` : name,
    details: [...from, ...change.details],
  });
}

function linesOf(folder: Folder, indent: string, page: Page): string[] {
  const { style, width } = page;
  const own = ownChanges(folder);
  const others = folder.changes.filter((change) => own.get(nameOf(change)) !== change);
  const shown = others.slice(0, SHOWN_IN_A_FOLDER);
  const left = others.slice(SHOWN_IN_A_FOLDER);
  const count = folder.folders.size + shown.length + (left.length > 0 ? 1 : 0);
  let at = 0;
  const branch = (): readonly [string, string] => {
    at += 1;
    return at === count ? ["└── ", "    "] : ["├── ", "│   "];
  };
  const lines: string[] = [];
  for (const [name, inside] of folder.folders) {
    const [first, below] = branch();
    const room = width - indent.length - 4;
    const change = own.get(name);
    const [path, last] = change === undefined ? onlyWay(name, inside) : [name, inside];
    const line =
      change === undefined ? shortened(`${path}/`, room) : changeLine(change, style, room, "");
    lines.push(style.dim(indent + first) + line, ...linesOf(last, indent + below, page));
  }
  for (const change of shown) {
    const [first] = branch();
    lines.push(
      style.dim(indent + first) + changeLine(change, style, width - indent.length - 4, ""),
    );
  }
  if (left.length > 0) {
    const [first] = branch();
    const more = `and ${countText(amountOf(left), "more", "more")}: ${kindsText(left)}`;
    lines.push(style.dim(indent + first) + more);
  }
  return lines;
}

/** What happened to the folders themselves in which something is changed, by name: told where they stand. */
function ownChanges({ folders, changes }: Folder): Map<string, ShownChange> {
  const found = changes.filter(({ path }) => path.endsWith("/"));
  const pairs = found.map((change) => [nameOf(change), change] as const);
  return new Map(pairs.filter(([name]) => folders.has(name)));
}

function nameOf({ path }: ShownChange): string {
  return path.replace(/\/$/, "");
}

/** A folder with nothing but one folder in it stands on the same line. */
function onlyWay(name: string, folder: Folder): readonly [string, Folder] {
  const [only, ...others] = folder.folders;
  if (only === undefined || others.length > 0 || folder.changes.length > 0) return [name, folder];
  return onlyWay(`${name}/${only[0]}`, only[1]);
}
