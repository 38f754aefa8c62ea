import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { openCofferdam } from "../../../src/index.ts";

/** Commits an appended byte of a large file, says so, and takes it back. */
const [folder = ""] = process.argv.slice(2);
await using coffer = await openCofferdam({ stateDirectory: join(folder, "state"), config: false });
const sandbox = coffer.sandbox(await coffer.create("plan", join(folder, "real")));
appendFileSync(join(await sandbox.getPath(), "big"), "!");
await sandbox.commit();
process.stdout.write("rolling back\n");
await sandbox.rollback();
await sandbox.cleanup();
