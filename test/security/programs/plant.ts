import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Puts links to a victim, folders and files at names, over and over, until its input ends. */
const { folders, names, victim } = JSON.parse(process.argv[2] ?? "") as {
  readonly folders: readonly string[];
  readonly names: readonly string[];
  readonly victim: string;
};
const PLANTS = [
  (place: string) => symlinkSync(victim, place),
  (place: string) => mkdirSync(place, { mode: 0o777 }),
  (place: string) => writeFileSync(place, "planted"),
  (place: string) => symlinkSync(join(victim, "file"), place),
];
const ended = new AbortController();
process.stdin.on("end", () => ended.abort()).resume();
process.stdout.write("planting\n");
for (let round = 0; !ended.signal.aborted; round++) {
  const plant = PLANTS[round % PLANTS.length];
  for (const folder of folders) {
    for (const name of names) {
      const place = join(folder, name);
      // What the library has at the name itself stays the planter's loss.
      tryTo(() => rmSync(place, { recursive: true, force: true }));
      tryTo(() => plant?.(place));
    }
  }
  await new Promise(setImmediate);
}

function tryTo(work: () => void): void {
  try {
    work();
  } catch {
    // Lost the race, or not allowed.
  }
}
