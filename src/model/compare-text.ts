/** Order of texts by their code units, for `sort`. */
export function compareText(a: string, b: string): number {
  return Number(a > b) - Number(a < b);
}
