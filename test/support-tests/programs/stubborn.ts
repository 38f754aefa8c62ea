import { mkdirSync, writeSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2] ?? "";
const told = ["one", "two", "three"].map((name) => {
  try {
    mkdirSync(join(folder, name));
    return "ok";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
});
writeSync(1, told.join(" "));
