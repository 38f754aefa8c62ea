import { readSync, writeSync } from "node:fs";

/**
 * Tells a test that the program has loaded everything, and waits until the test lets it go on. What
 * a fault counts then starts here, without the calls by which Node loads modules.
 */
export function waitForGo(): void {
  writeSync(2, "ready\n");
  readSync(0, Buffer.alloc(2));
}
