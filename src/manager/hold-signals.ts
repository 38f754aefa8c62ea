/** Keeps the process from being ended by a signal until it is disposed of. */
export interface SignalHold extends Disposable {
  /** Aborted when a signal came in, so that work which can still be given up is. */
  readonly interrupted: AbortSignal;
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface Watch {
  holders: number;
  received: NodeJS.Signals | null;
  readonly controller: AbortController;
  readonly listener: (signal: NodeJS.Signals) => void;
}

let current: Watch | null = null;

/**
 * Holds SIGINT, SIGTERM and SIGHUP back. When the last hold ends, a signal that came in meanwhile is raised again,
 * unless the program listens to it itself and so has heard it already.
 */
export function holdSignals(): SignalHold {
  const watch = (current ??= startWatch());
  watch.holders += 1;
  let held = true;
  return {
    interrupted: watch.controller.signal,
    [Symbol.dispose]: () => {
      if (!held) return;
      held = false;
      watch.holders -= 1;
      if (watch.holders === 0) endWatch(watch);
    },
  };
}

function startWatch(): Watch {
  const controller = new AbortController();
  const watch: Watch = {
    holders: 0,
    received: null,
    controller,
    listener: (signal) => {
      watch.received ??= signal;
      controller.abort(new Error(`${signal} was received`));
    },
  };
  for (const signal of SIGNALS) process.on(signal, watch.listener);
  return watch;
}

function endWatch(watch: Watch): void {
  current = null;
  for (const signal of SIGNALS) process.off(signal, watch.listener);
  const { received } = watch;
  if (received !== null && process.listenerCount(received) === 0)
    process.kill(process.pid, received);
}
