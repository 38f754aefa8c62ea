import {
  type CofferdamOptions,
  SandboxError,
  type SandboxRef,
  openCofferdam,
} from "../../../src/index.ts";
import { PROBES } from "../../fixtures/probe/probes.ts";

/** What a child is told to do: open an installation, then call methods of one sandbox or of one plan. */
export interface Orders {
  readonly options: CofferdamOptions;
  readonly ref?: SandboxRef;
  readonly planId?: string;
  /** Each call is a method with its arguments; `recover` is the installation's. */
  readonly calls: readonly (readonly [method: string, ...args: unknown[]])[];
  /** Say `ready` before the calls, so that a test knows when they begin. */
  readonly announce?: boolean;
}

/** What it answers: the results up to the first error. */
export interface Answers {
  readonly results: readonly unknown[];
  readonly error: unknown;
  readonly interrupted: unknown;
  readonly recovery: unknown;
}

const orders = JSON.parse(process.argv[2] ?? "") as Orders;
const results: unknown[] = [];
let failure: unknown = null;
const coffer = await openCofferdam({ config: false, strategies: PROBES, ...orders.options });
if (orders.announce === true) process.stdout.write("ready\n");
try {
  for (const [method, ...args] of orders.calls) {
    const owner = method === "recover" ? coffer : await target();
    const call = (owner as Record<string, (...all: unknown[]) => unknown>)[method];
    const result: unknown = await call?.apply(owner, args);
    results.push(
      result instanceof Uint8Array ? Buffer.from(result).toString("utf8") : (result ?? null),
    );
  }
} catch (error) {
  if (!(error instanceof SandboxError)) throw error;
  failure = error;
}
await coffer.close();
const { interrupted, recovery } = coffer.opening;
process.stdout.write(JSON.stringify({ results, error: failure, interrupted, recovery }));

async function target(): Promise<unknown> {
  if (orders.planId !== undefined) return coffer.plan(orders.planId);
  return orders.ref === undefined ? coffer : coffer.sandbox(orders.ref);
}
