import { setImmediate } from "node:timers/promises";
import { openCofferdam } from "../../../../src/index.ts";

/** Uses a sandbox of a database, tells what keeps it from ending then, and ends without closing anything. */
const [stateDirectory = "", config = ""] = process.argv.slice(2);
const cofferdam = await openCofferdam({ stateDirectory, config });
const shop = { resourceId: "shop", type: "database", location: "main" };
const sandbox = cofferdam.sandbox(await cofferdam.create("plan", shop));
await sandbox.write("row", "UPDATE items SET name = 'mine'");
const left = (): string[] =>
  process.getActiveResourcesInfo().filter((name) => /TCP|Process|Timeout/.test(name));
// What is still being put in order may take a while.
for (let turn = 0; turn < 1_000_000 && left().length > 0; turn += 1) await setImmediate();
process.stdout.write(`left: ${left().join(" ")}`);
