import { test } from "vitest";
import { isWholeRun } from "../support/sample-points.ts";
import { tempFolder } from "../support/temp.ts";
import { startEditor } from "./editor.ts";
import { firstSeed } from "./first-seed.ts";
import { type Subject, checkRound } from "./random-edits.ts";

const ROUNDS = Number(process.env["COFFERDAM_ROUNDS"] ?? (isWholeRun ? 40 : 10));

const SUBJECTS: readonly Subject[] = [
  { strategy: "filesystem_copy" },
  { strategy: "copy_on_write" },
  { strategy: "overlay", mode: "kernel", splitsHardLinks: true },
  { strategy: "overlay", mode: "copy" },
];

for (const subject of SUBJECTS) {
  const name = [subject.strategy, subject.mode].filter((part) => part !== undefined).join(" ");
  test(`${name}: a commit equals a plain copy with the same edits, an undo equals the original (R12, R25, R33)`, async () => {
    const folder = tempFolder();
    await using editor = await startEditor();
    const seed = firstSeed();
    for (let round = 0; round < ROUNDS; round++) {
      try {
        await checkRound(folder, editor, subject, seed + round * 2);
      } catch (cause) {
        throw new Error(`failed with COFFERDAM_SEED=${seed + round * 2}`, { cause });
      }
    }
    console.log(`${name}: ${ROUNDS} rounds from seed ${seed}`);
  }, 600_000);
}
