import { existsSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import type { Page } from "./markdown.ts";

/** The links of the pages that lead nowhere inside the folder, one line each. Addresses on the web are not asked. */
export function findBrokenLinks(folder: string, pages: readonly Page[]): string[] {
  const byName = new Map(pages.map((page) => [page.name, page]));
  return pages.flatMap((page) =>
    page.links.flatMap(({ target, line }) => {
      const problem = problemOf(folder, page, target, byName);
      return problem === null ? [] : [`${page.name}:${line}: ${target}: ${problem}`];
    }),
  );
}

function problemOf(
  folder: string,
  page: Page,
  target: string,
  byName: ReadonlyMap<string, Page>,
): string | null {
  if (/^(https?|mailto):/.test(target)) return null;
  const [path = "", anchor] = target.split("#", 2);
  const name = path === "" ? page.name : normalize(join(dirname(page.name), decodeURI(path)));
  if (name.startsWith("..")) return "leads out of the project";
  const file = join(folder, name);
  if (!existsSync(file)) return "there is no such file";
  if (anchor === undefined) return null;
  if (statSync(file).isDirectory()) return "a folder has no headings";
  const found = byName.get(name);
  if (found === undefined) return "only pages have headings";
  return found.anchors.has(anchor) ? null : "there is no such heading";
}
