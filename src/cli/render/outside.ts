import { homedir } from "node:os";
import type { OutsideReport } from "../../index.ts";
import type { Style } from "../style.ts";
import { countText } from "./amounts.ts";
import { printable, shortened } from "./printable.ts";

/** How many places are named. */
const SHOWN = 5;
const KINDS = ["added", "modified", "deleted"] as const;

/** What a command did outside its plan, in a few lines: how much, and the folders that hold most of it. */
export function outsideLines(report: OutsideReport, style: Style, width: number): string[] {
  const total = KINDS.reduce((sum, kind) => sum + report.counts[kind], 0);
  if (total === 0) return [];
  const kinds = KINDS.filter((kind) => report.counts[kind] > 0).map(
    (kind) => `${report.counts[kind]} ${kind}`,
  );
  const verb = total === 1 ? "was" : "were";
  const places = placesOf(report);
  return [
    `${countText(total, "file")} outside the plan ${verb} discarded (${kinds.join(", ")}):`,
    ...places.slice(0, SHOWN).map(([place, count]) => {
      const text = `  ${shortened(printable(place), Math.max(8, width - 10))}`;
      return count === 1 ? text : `${text}  ${style.dim(String(count))}`;
    }),
    ...(places.length > SHOWN ? [`  and ${countText(places.length - SHOWN, "more place")}`] : []),
  ];
}

/** What a command changed in the system that it ran in, in a few lines. */
export function surroundingsLines(paths: readonly string[], width: number): string[] {
  if (paths.length === 0) return [];
  return [
    `${countText(paths.length, "path")} of the system that it ran in changed; the plan keeps that:`,
    ...paths
      .slice(0, SHOWN)
      .map((path) => `  ${shortened(printable(path), Math.max(8, width - 4))}`),
    ...(paths.length > SHOWN ? [`  and ${countText(paths.length - SHOWN, "more path")}`] : []),
  ];
}

/** Paths alone in their folder by themselves, the others by their folder, most first. */
function placesOf({ changes }: OutsideReport): [place: string, count: number][] {
  const folders = new Map<string, string[]>();
  for (const { path } of changes) {
    const folder = path.slice(0, path.lastIndexOf("/") + 1);
    const known = folders.get(folder);
    if (known === undefined) folders.set(folder, [path]);
    else known.push(path);
  }
  const places = [...folders].map(([folder, paths]): [string, number] => [
    shortHome(paths.length === 1 ? (paths[0] ?? folder) : folder),
    paths.length,
  ]);
  return places.toSorted(([, a], [, b]) => b - a);
}

function shortHome(path: string): string {
  const home = homedir();
  return path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
