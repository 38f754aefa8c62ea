import { replaceFiles } from "../../../src/journal/durable-file.ts";

const [content = "", ...paths] = process.argv.slice(2);
await replaceFiles(paths.map((path) => ({ path, content })));
