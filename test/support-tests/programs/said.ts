/** Shows that a program may consist of several files. */
export function fromText(words: readonly string[]): string {
  return words.join("-");
}
