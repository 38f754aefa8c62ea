import type { Style } from "../style.ts";
import { printableLines } from "./printable.ts";

const HEADS = /^(?:diff |--- |\+\+\+ |new |old |deleted |renamed |note: )/;

/** A unified diff with its lines coloured, and without anything that could control a terminal. */
export function paintPatch(text: string, style: Style): string[] {
  return printableLines(text.replace(/\n$/, "")).map((line) => {
    if (line.startsWith("diff ")) return style.bold(line);
    if (line.startsWith("@@")) return style.notable(line);
    if (HEADS.test(line)) return style.dim(line);
    if (line.startsWith("+")) return style.good(line);
    return line.startsWith("-") ? style.bad(line) : line;
  });
}
