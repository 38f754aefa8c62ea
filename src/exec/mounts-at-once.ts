/** A step of a view: its name and its words. */
export type Step = readonly string[];

/** Characters that may not stand for themselves in a table of mounts. */
const UNSURE = /[^\w/.,=:+@%-]/g;
const TMPFS = "mode=0755,size=1m";

/**
 * The first steps of a view, as many as one program can do, as a table for `mount --all`: to start a program for each of
 * them takes longer than all the mounts. Names of layers are relative to the folder of the run.
 */
export function mountsAtOnce(
  steps: readonly Step[],
  folder: string,
): { readonly text: string; readonly count: number } {
  const lines: string[] = [];
  for (const step of steps) {
    const line = lineOf(step, folder);
    if (line === null) break;
    lines.push(line);
  }
  return { text: tableOf(lines), count: lines.length };
}

/** A table that shows files at places, each as far as it can be. */
export function bindsAtOnce(places: readonly (readonly [from: string, to: string])[]): string {
  return tableOf(places.map(([from, to]) => entry(from, to, "none", "bind")));
}

/** The line of a step by its name, from its words; null where one program cannot do it with others. */
const LINES: Readonly<Record<string, (words: readonly string[], run: string) => string | null>> = {
  layer: layerLine,
  overlay: layerLine,
  tree: ([from = "", to = ""]) => entry(from, to, "none", "rbind"),
  bind: ([from = "", to = ""]) => entry(from, to, "none", "bind"),
  still: ([from = "", to = "", flags = ""]) => entry(from, to, "none", listed("bind,ro", flags)),
  fixed: ([at = "", flags = ""]) => entry("none", at, "none", listed("remount,bind,ro", flags)),
  mask: ([at = ""]) => entry("tmpfs", at, "tmpfs", TMPFS),
  hide: ([at = ""]) => entry("tmpfs", at, "tmpfs", `ro,${TMPFS}`),
  processes: ([at = ""]) => entry("proc", at, "proc", "defaults"),
};

function lineOf([name = "", ...words]: Step, run: string): string | null {
  return LINES[name]?.(words, run) ?? null;
}

function layerLine(
  [folder = "", options = "", at = ""]: readonly string[],
  run: string,
): string | null {
  return folder === run ? entry("overlay", at, "overlay", options) : null;
}

function listed(options: string, flags: string): string {
  return flags === "" ? options : `${options},${flags}`;
}

function entry(source: string, target: string, type: string, options: string): string {
  return [escape(source), escape(target), type, options, "0", "0"].join(" ");
}

function escape(path: string): string {
  return path.replaceAll(UNSURE, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x80 ? `\\${code.toString(8).padStart(3, "0")}` : character;
  });
}

function tableOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
