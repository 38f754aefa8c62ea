import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** Makes a folder, lets a child make two, and makes another one. */
const [folder = ""] = process.argv.slice(2);
mkdirSync(join(folder, "before"));
spawnSync("sh", ["-ec", 'mkdir "$0/one"; mkdir "$0/two"', folder]);
mkdirSync(join(folder, "after"));
