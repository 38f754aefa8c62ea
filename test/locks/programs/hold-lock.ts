import { appendFileSync } from "node:fs";
import { once } from "node:events";
import { acquireLock } from "../../../src/locks/file-lock.ts";

/** Holds a lock until the standard input ends, or counts in a file under it. */
const [file = "", counter = "", rounds = "0"] = process.argv.slice(2);
if (counter === "") {
  await using _lock = await acquireLock(file, { exclusive: true, timeoutMs: 10_000 });
  process.stdout.write("held\n");
  process.stdin.resume();
  await once(process.stdin, "end");
} else {
  for (let round = 0; round < Number(rounds); round += 1) {
    await using _lock = await acquireLock(file, { exclusive: true, timeoutMs: 60_000 });
    appendFileSync(counter, `begin ${process.pid}\n`);
    await new Promise((resolve) => setImmediate(resolve));
    appendFileSync(counter, `end ${process.pid}\n`);
  }
}
