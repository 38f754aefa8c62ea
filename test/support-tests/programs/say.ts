import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fromText } from "./said.ts";
import { toBytePath } from "../../../src/model/byte-path.ts";

const [folder = "", ...words] = process.argv.slice(2);
mkdirSync(join(folder, "made"));
writeFileSync(join(folder, "made/draft"), words.join(" "));
renameSync(join(folder, "made/draft"), join(folder, "made/final"));
process.stdout.write(
  JSON.stringify({
    uid: process.getuid?.(),
    home: process.env["HOME"],
    said: fromText(words),
    bytes: toBytePath("é"),
  }),
);
