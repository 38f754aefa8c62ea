/** Milliseconds that the work takes. */
export async function timed(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The value in the middle. */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Collects times by subject, action and size. */
export class Times {
  #rows = new Map();

  add(subject, action, size, milliseconds) {
    const key = JSON.stringify([subject, action, size]);
    this.#rows.set(key, [...(this.#rows.get(key) ?? []), milliseconds]);
  }

  /** The median, or undefined when it was not measured. */
  get(subject, action, size) {
    const values = this.#rows.get(JSON.stringify([subject, action, size]));
    return values === undefined ? undefined : median(values);
  }

  list() {
    return [...this.#rows].map(([key, values]) => {
      const [subject, action, size] = JSON.parse(key);
      return { subject, action, size, medianMs: round(median(values)), runs: values.map(round) };
    });
  }
}

function round(value) {
  return Math.round(value * 100) / 100;
}
