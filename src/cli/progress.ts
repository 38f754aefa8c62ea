import type { Call } from "./call.ts";

/** Silence longer than this makes people wonder. */
const PATIENCE_MS = 1000;
/** Back to the beginning of the line, and away with what stands there. */
const ERASE = "\r\u001b[K";

/** Waits for work, and says in a terminal what it is about when it takes longer than a second; nothing of it stays. */
export async function withProgress<T>(call: Call, what: string, work: Promise<T>): Promise<T> {
  if (call.json || call.quiet || !process.stderr.isTTY || process.env["TERM"] === "dumb")
    return work;
  let isShown = false;
  const timer = setTimeout(() => {
    isShown = true;
    process.stderr.write(`${what} …`);
  }, PATIENCE_MS);
  try {
    return await work;
  } finally {
    clearTimeout(timer);
    if (isShown) process.stderr.write(ERASE);
  }
}
