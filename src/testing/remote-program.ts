import { text } from "node:stream/consumers";
import { type SandboxStrategy, openCofferdam } from "../index.ts";
import type { RemoteWork } from "./new-process.ts";

async function main(): Promise<void> {
  const { options, ref, calls } = JSON.parse(await text(process.stdin)) as RemoteWork;
  const cofferdam = await openCofferdam(options as Parameters<typeof openCofferdam>[0]);
  const strategy = await cofferdam.strategyFor(ref);
  const results: unknown[] = [];
  for (const [method, ...args] of calls) {
    if (method === "die") process.kill(process.pid, "SIGKILL");
    const call = strategy[method as keyof SandboxStrategy] as (...all: unknown[]) => unknown;
    const result: unknown = await call.call(strategy, ref, ...args);
    results.push(
      result instanceof Uint8Array ? Buffer.from(result).toString("base64") : (result ?? null),
    );
  }
  await cofferdam.close();
  process.stdout.write(JSON.stringify(results));
}

void main();
