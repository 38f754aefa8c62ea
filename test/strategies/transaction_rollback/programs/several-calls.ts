import { openCofferdam } from "../../../../src/index.ts";
import { SHOP } from "../fixture.ts";

/** Makes several calls on a database, one right after the other, and nothing else that keeps a process alive. */
const [stateDirectory = "", config = ""] = process.argv.slice(2);

const cofferdam = await openCofferdam({ stateDirectory, config });
const sandbox = cofferdam.sandbox(await cofferdam.create("plan", SHOP));
for (let call = 0; call < 3; call += 1) await sandbox.read("SELECT 1 AS one");
await cofferdam.close();
process.stdout.write("done");
