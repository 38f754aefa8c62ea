/** As many requests as a server answers side by side without the last of them waiting long. */
const AT_ONCE = 16;

/**
 * Does the same for every item, a few at a time, and gives the results in the order of the items. When some fail, the
 * rest is not begun, what was begun is waited for, and the first failure is thrown.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const failures: unknown[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && failures.length === 0) {
      const at = next;
      next += 1;
      try {
        results[at] = await work(items[at]!);
      } catch (thrown) {
        failures.push(thrown);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, worker));
  if (failures.length > 0) throw failures[0];
  return results;
}
