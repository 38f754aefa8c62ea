/** A connection, or a process, that can serve the next call too. */
export interface Keepable {
  /** Lets this process end although it is there. */
  rest(): void;
  /** Ends it; whatever it still did is given up. */
  end(): Promise<void>;
}

interface Kept<T> {
  readonly one: T;
  readonly timer: NodeJS.Timeout;
}

/** Long enough for somebody who works, short enough not to be in anybody's way. */
const IDLE_MS = 10_000;
/** More are only needed by calls at the same time. */
const MOST = 2;

/**
 * Keeps what is costly to make between calls, for a while. Nothing in it holds a lock, and nothing in it keeps the process
 * from ending.
 */
export class IdlePool<T extends Keepable> {
  readonly #idleMs: number;
  readonly #kept = new Map<string, Kept<T>[]>();

  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** One that was kept and still works, which `wake` finds out by throwing or not; null when there is none. */
  async take(key: string, wake: (one: T) => Promise<unknown>): Promise<T | null> {
    for (;;) {
      const found = this.#kept.get(key)?.pop();
      if (found === undefined) return null;
      clearTimeout(found.timer);
      try {
        await wake(found.one);
        return found.one;
      } catch {
        // Its server was restarted, or it was ended from outside: another one is made.
        await found.one.end();
      }
    }
  }

  /** Keeps one that nobody uses, or ends it when there are enough. */
  async give(key: string, one: T): Promise<void> {
    const kept = this.#kept.get(key) ?? [];
    if (kept.length >= MOST) return one.end();
    one.rest();
    const timer = setTimeout(() => {
      this.#kept.set(
        key,
        (this.#kept.get(key) ?? []).filter((other) => other.one !== one),
      );
      void one.end();
    }, this.#idleMs);
    this.#kept.set(key, [...kept, { one, timer: timer.unref() }]);
  }

  /** Ends what is kept, under one key or all. */
  async clear(key?: string): Promise<void> {
    const keys = key === undefined ? [...this.#kept.keys()] : [key];
    const all = keys.flatMap((one) => this.#kept.get(one) ?? []);
    for (const one of keys) this.#kept.delete(one);
    await Promise.all(
      all.map(({ one, timer }) => {
        clearTimeout(timer);
        return one.end();
      }),
    );
  }
}
