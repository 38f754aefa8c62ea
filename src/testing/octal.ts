/** A mode as people write it, for the messages of failed rules. */
export function octal(mode: number | null | undefined): string {
  return mode === null || mode === undefined ? "none" : mode.toString(8);
}
