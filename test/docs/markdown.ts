import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The checkout, without a slash at its end. */
export const checkout = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** A fenced block of a page. */
export interface CodeBlock {
  readonly language: string;
  /** What stands behind the language: words, or `name=value`. */
  readonly marks: ReadonlyMap<string, string>;
  readonly text: string;
  /** Line of the fence, counted from 1. */
  readonly line: number;
}

/** A link of a page, as it is written. */
export interface PageLink {
  readonly target: string;
  readonly line: number;
}

/** One page of documentation. */
export interface Page {
  /** Relative to the folder that was read. */
  readonly name: string;
  readonly text: string;
  readonly blocks: readonly CodeBlock[];
  readonly links: readonly PageLink[];
  /** The anchors that its headings make. */
  readonly anchors: ReadonlySet<string>;
}

const SKIPPED = new Set(["node_modules", "dist", "coverage", ".git"]);

/** Every page below a folder, except what is installed or made by a build. */
export function pagesBelow(folder: string, below = ""): Page[] {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const name = join(below, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : pagesBelow(folder, name);
    return name.endsWith(".md") ? [readPage(folder, name)] : [];
  });
}

/** Reads one page. */
export function readPage(folder: string, name: string): Page {
  const text = readFileSync(join(folder, name), "utf8");
  const { blocks, prose } = split(text);
  return { name, text, blocks, links: linksOf(prose), anchors: anchorsOf(prose) };
}

/** Takes the fenced blocks out; the prose keeps its line numbers. */
function split(text: string): { blocks: CodeBlock[]; prose: string[] } {
  const blocks: CodeBlock[] = [];
  const prose: string[] = [];
  let open: { fence: string; info: string; line: number; lines: string[] } | null = null;
  for (const [index, line] of text.split("\n").entries()) {
    const fence = /^(`{3,}|~{3,})(.*)$/.exec(line);
    if (open === null && fence?.[1] !== undefined) {
      open = { fence: fence[1], info: fence[2] ?? "", line: index + 1, lines: [] };
    } else if (open !== null && line.startsWith(open.fence) && fence?.[2]?.trim() === "") {
      blocks.push(toBlock(open));
      open = null;
    } else if (open !== null) open.lines.push(line);
    prose.push(open === null && fence === null ? line : "");
  }
  return { blocks, prose };
}

function toBlock(open: { info: string; line: number; lines: string[] }): CodeBlock {
  const [language = "", ...words] = open.info.trim().split(/\s+/);
  const marks = new Map(
    words.map((word) => {
      const cut = word.indexOf("=");
      return cut < 0 ? ([word, ""] as const) : ([word.slice(0, cut), word.slice(cut + 1)] as const);
    }),
  );
  return { language, marks, text: `${open.lines.join("\n")}\n`, line: open.line };
}

function linksOf(prose: readonly string[]): PageLink[] {
  return prose.flatMap((line, index) => {
    const visible = line.replaceAll(/`[^`]*`/g, (code) => "x".repeat(code.length));
    const targets = [
      ...visible.matchAll(/\]\(([^()\s]+)\)/g),
      ...visible.matchAll(/^\[[^\]]+\]: (\S+)/g),
    ];
    return targets.map(([, target = ""]) => ({ target, line: index + 1 }));
  });
}

/** As the usual renderers make them: lower case, no punctuation, a dash for each space, a number when repeated. */
function anchorsOf(prose: readonly string[]): Set<string> {
  const anchors = new Set<string>();
  for (const line of prose) {
    const heading = /^#{1,6} +(.*?)(?: +#+)?$/.exec(line)?.[1];
    if (heading === undefined) continue;
    const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const plain = words.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-");
    let anchor = plain;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${plain}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}
