import { startChild, type ChildResult, type RunningChild } from "../support/child.ts";
import type { Answers, Orders } from "./programs/act.ts";

/** The program that acts as another process. */
export const ACT = new URL("./programs/act.ts", import.meta.url);

/** Lets another process act and gives what it answered. */
export async function act(
  orders: Orders,
  env: Readonly<Record<string, string>> = {},
): Promise<Answers> {
  const result = await actUntilEnd(orders, env);
  if (result.code !== 0) throw new Error(`the child ended with ${result.signal}: ${result.stderr}`);
  return JSON.parse(result.stdout.replace(/^ready\n/, "")) as Answers;
}

/** Lets another process act, however it ends. */
export async function actUntilEnd(
  orders: Orders,
  env: Readonly<Record<string, string>> = {},
): Promise<ChildResult> {
  const child = await startActing(orders, env);
  return child.result;
}

/** Lets another process begin to act. */
export async function startActing(
  orders: Orders,
  env: Readonly<Record<string, string>> = {},
): Promise<RunningChild> {
  const child = await startChild(ACT, [JSON.stringify(orders)], { env });
  child.process.stdin.end();
  return child;
}
