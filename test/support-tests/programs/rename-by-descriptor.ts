import { closeSync, mkdirSync, openSync, renameSync } from "node:fs";
import { join } from "node:path";

/** Renames a folder by the descriptor of the folder that holds it. */
const [folder = ""] = process.argv.slice(2);
mkdirSync(join(folder, "old"));
const descriptor = openSync(folder, "r");
renameSync(`/proc/self/fd/${descriptor}/old`, `/proc/self/fd/${descriptor}/new`);
closeSync(descriptor);
