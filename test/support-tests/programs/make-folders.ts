import { mkdirSync } from "node:fs";
import { join } from "node:path";

const [folder = "", count = "0"] = process.argv.slice(2);
for (let made = 1; made <= Number(count); made++) mkdirSync(join(folder, String(made)));
