import { openCofferdam } from "../../../../../src/index.ts";
import { sqliteProcesses } from "../processes.ts";

/** Uses a sandbox, tells which processes it has for that, and ends without closing anything. */
const [stateDirectory = "", config = ""] = process.argv.slice(2);
const cofferdam = await openCofferdam({ stateDirectory, config });
const shop = { resourceId: "shop", type: "database", location: "shop" };
const sandbox = cofferdam.sandbox(await cofferdam.create("plan", shop));
await sandbox.write("row", "UPDATE jobs SET state = 'new'");
const left = process.getActiveResourcesInfo().filter((name) => /Pipe|Process|Timeout/.test(name));
process.stdout.write(JSON.stringify({ kept: sqliteProcesses(), left }));
