import { startChild, type ChildResult, type RunningChild } from "../support/child.ts";
import type { Answers, Orders } from "./programs/act.ts";

/** The program that acts as another process. */
export const ACT = new URL("./programs/act.ts", import.meta.url);

/** Lets another process act and gives what it answered. */
export async function act(orders: Orders): Promise<Answers> {
  const result = await actUntilEnd(orders);
  if (result.code !== 0) throw new Error(`the child ended with ${result.signal}: ${result.stderr}`);
  return JSON.parse(result.stdout.replace(/^ready\n/, "")) as Answers;
}

/** Lets another process act, however it ends. */
export async function actUntilEnd(orders: Orders): Promise<ChildResult> {
  const child = await startActing(orders);
  return child.result;
}

/** Lets another process begin to act. */
export async function startActing(orders: Orders): Promise<RunningChild> {
  const child = await startChild(ACT, [JSON.stringify(orders)]);
  child.process.stdin.end();
  return child;
}
