/** Gives the place back; harmless when called twice. */
export type Leave = () => void;

interface Waiter {
  readonly exclusive: boolean;
  readonly enter: () => void;
}

interface Queue {
  /** How many hold the place; -1 for one that holds it alone. */
  holders: number;
  readonly waiting: Waiter[];
}

const queues = new Map<string, Queue>();

/**
 * Lets calls of this process pass one after the other in the order they came, readers side by side. Locks between
 * processes belong to open files and would let waiting calls of one process overtake each other.
 * @returns null when the signal ended the wait.
 */
export function enterQueue(
  key: string,
  exclusive: boolean,
  signal: AbortSignal,
): Promise<Leave | null> {
  const queue = queues.get(key) ?? { holders: 0, waiting: [] };
  queues.set(key, queue);
  return new Promise((resolve) => {
    const waiter: Waiter = {
      exclusive,
      enter: () => {
        signal.removeEventListener("abort", giveUp);
        resolve(once(() => leave(key, queue, exclusive)));
      },
    };
    const giveUp = (): void => {
      queue.waiting.splice(queue.waiting.indexOf(waiter), 1);
      admit(key, queue);
      resolve(null);
    };
    queue.waiting.push(waiter);
    admit(key, queue);
    if (!queue.waiting.includes(waiter)) return;
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
  });
}

function leave(key: string, queue: Queue, exclusive: boolean): void {
  queue.holders = exclusive ? 0 : queue.holders - 1;
  admit(key, queue);
}

function admit(key: string, queue: Queue): void {
  for (let next = queue.waiting[0]; next !== undefined; next = queue.waiting[0]) {
    if (queue.holders < 0 || (next.exclusive && queue.holders > 0)) return;
    queue.waiting.shift();
    queue.holders = next.exclusive ? -1 : queue.holders + 1;
    next.enter();
  }
  if (queue.holders === 0 && queues.get(key) === queue) queues.delete(key);
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (done) return;
    done = true;
    action();
  };
}
