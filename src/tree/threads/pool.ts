import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";
import { workerUrl } from "../../platform/worker-url.ts";
import type { TaskInput, TaskName, TaskOutput } from "./tasks.ts";
import { receiveError, type SentError } from "./thrown.ts";

interface Waiting {
  readonly resolve: (output: unknown) => void;
  readonly reject: (error: Error) => void;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, Waiting>;
}

/** How many threads share bulk work: more than two gain nothing on the disks we measured. */
export const WORK_THREADS = Math.max(1, Math.min(2, availableParallelism()));

const threads: Thread[] = [];
let lastId = 0;

/**
 * Runs one task on another thread. Threads start on first use, stay for the next task, and never keep the process
 * alive by themselves.
 */
export function runTask<Name extends TaskName>(
  name: Name,
  input: TaskInput<Name>,
): Promise<TaskOutput<Name>> {
  const thread = leastBusy();
  const id = ++lastId;
  return new Promise<TaskOutput<Name>>((resolve, reject) => {
    if (thread.waiting.size === 0) thread.worker.ref();
    thread.waiting.set(id, { resolve: resolve as (output: unknown) => void, reject });
    thread.worker.postMessage({ id, name, input });
  });
}

function leastBusy(): Thread {
  const idle = threads.find((thread) => thread.waiting.size === 0);
  if (idle !== undefined) return idle;
  if (threads.length < WORK_THREADS) return startThread();
  return threads.reduce((best, thread) =>
    thread.waiting.size < best.waiting.size ? thread : best,
  );
}

function startThread(): Thread {
  // Most commands need no thread, and the module takes a while to load.
  const threading = createRequire(import.meta.url)(
    "node:worker_threads",
  ) as typeof import("node:worker_threads");
  // Options of the caller's process, such as --input-type, are not meant for our threads and can keep them from starting.
  const address = workerUrl("./worker.ts", import.meta.url);
  const worker: Worker = new threading.Worker(address, { execArgv: [] });
  const thread: Thread = { worker, waiting: new Map() };
  worker.on(
    "message",
    ({ id, output, error }: { id: number; output?: unknown; error?: SentError }) => {
      const waiting = thread.waiting.get(id);
      thread.waiting.delete(id);
      if (thread.waiting.size === 0) worker.unref();
      if (error === undefined) waiting?.resolve(output);
      else waiting?.reject(receiveError(error));
    },
  );
  const fail = (error: Error): void => {
    threads.splice(threads.indexOf(thread), 1);
    for (const { reject } of thread.waiting.values()) reject(error);
    thread.waiting.clear();
  };
  worker.on("error", fail);
  worker.on("exit", (code) => {
    if (threads.includes(thread)) fail(new Error(`the file worker ended with ${code}`));
  });
  threads.push(thread);
  return thread;
}
