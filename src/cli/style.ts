/** How text is told apart; plain text where colours are not wanted. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  /** What is neither good nor bad, such as a change. */
  notable(text: string): string;
}

/** Colours only for a terminal, and not where NO_COLOR is set, see https://no-color.org. */
export function styleFor(stream: { readonly isTTY?: boolean }): Style {
  const { NO_COLOR, TERM } = process.env;
  const isColoured =
    stream.isTTY === true && (NO_COLOR === undefined || NO_COLOR === "") && TERM !== "dumb";
  const paint = (on: number, off: number) => (text: string) =>
    isColoured ? `\u001b[${on}m${text}\u001b[${off}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    good: paint(32, 39),
    bad: paint(31, 39),
    notable: paint(33, 39),
  };
}
