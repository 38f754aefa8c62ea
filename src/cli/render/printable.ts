/** What moves the cursor, colours, hides or reorders text: controls, C1 controls, direction marks, line separators. */
const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A name as it can be shown: what controls a terminal is written out, so that no name can draw on the screen. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, (character) => {
    const code = character.charCodeAt(0);
    if (code === 0x0a) return String.raw`\n`;
    if (code === 0x09) return String.raw`\t`;
    return code < 0x100
      ? String.raw`\x${code.toString(16).padStart(2, "0")}`
      : String.raw`\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** Text of several lines, such as a diff, each line of which is made printable; tabs stay. */
export function printableLines(text: string): string[] {
  return text.split("\n").map((line) => line.split("\t").map(printable).join("\t"));
}

/** The text cut in the middle so that it fits, both ends kept. */
export function shortened(text: string, width: number): string {
  if (text.length <= width || width < 2) return text;
  const kept = width - 1;
  const end = Math.ceil(kept / 2);
  return `${text.slice(0, kept - end)}…${text.slice(text.length - end)}`;
}
