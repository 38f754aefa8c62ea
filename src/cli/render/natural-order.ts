const PART = /\d+|\D+/g;
const NUMBER = /^\d/;

/** Whether a text comes before (negative) or after another one where numbers in them count as numbers: 9 before 10. */
export function compareNaturally(left: string, right: string): number {
  const [ours, theirs] = [left.match(PART) ?? [], right.match(PART) ?? []];
  for (const [at, one] of ours.entries()) {
    const other = theirs[at];
    if (other === undefined) return 1;
    const order = compareParts(one, other);
    if (order !== 0) return order;
  }
  return ours.length - theirs.length;
}

/** Numbers of any length, so not by way of numbers of JavaScript. */
function compareParts(left: string, right: string): number {
  const areNumbers = NUMBER.test(left) && NUMBER.test(right);
  const [one, other] = areNumbers ? [digitsOf(left), digitsOf(right)] : [left, right];
  if (areNumbers && one.length !== other.length) return one.length - other.length;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function digitsOf(text: string): string {
  return text.replace(/^0+(?=\d)/, "");
}
