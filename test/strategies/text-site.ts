import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempFolder } from "../support/temp.ts";

/** A text, the same with a line more at either end, and with both. */
export const TEXT = Array.from({ length: 20 }, (_, at) => `line ${at}\n`).join("");
export const TOP = `top\n${TEXT}`;
export const BOTTOM = `${TEXT}bottom\n`;
export const BOTH = `top\n${TEXT}bottom\n`;

/** A directory with the text in it, and a place for the state. */
export function textSite(): { real: string; state: string } {
  const folder = tempFolder();
  const real = join(folder, "real");
  mkdirSync(real);
  writeFileSync(join(real, "text"), TEXT);
  writeFileSync(join(real, "other"), "other\n");
  return { real, state: join(folder, "state") };
}
