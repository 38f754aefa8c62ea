import { once } from "node:events";
import { onTestFinished } from "vitest";
import { runChild, startChild } from "../../../support/child.ts";

const program = new URL("programs/hold.ts", import.meta.url);

/** Another process that has run statements and holds its transaction; the function given lets it end. */
export async function holdingProcess(
  path: string,
  statements: string,
): Promise<() => Promise<void>> {
  const child = await startChild(program, [path, statements]);
  const end = async (): Promise<void> => {
    child.process.stdin.end();
    await child.result;
  };
  onTestFinished(end);
  await Promise.race([once(child.process.stdout, "data"), child.result]);
  return end;
}

/** Whether another process can run statements at once, without waiting for any lock. */
export async function succeedsAtOnce(path: string, statements: string): Promise<boolean> {
  return (await runChild(program, [path, statements])).code === 0;
}
