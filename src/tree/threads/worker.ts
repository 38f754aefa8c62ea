import { parentPort } from "node:worker_threads";
import { TASKS, type TaskName } from "./tasks.ts";
import { sendError } from "./thrown.ts";

/** One request to this thread. */
export interface TaskRequest {
  readonly id: number;
  readonly name: TaskName;
  readonly input: unknown;
}

parentPort?.on("message", ({ id, name, input }: TaskRequest) => {
  try {
    const run = TASKS[name] as (input: unknown) => unknown;
    parentPort?.postMessage({ id, output: run(input) });
  } catch (thrown) {
    parentPort?.postMessage({ id, error: sendError(thrown) });
  }
});
