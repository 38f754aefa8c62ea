import { readdirSync } from "node:fs";
import { RecordDamagedError, errnoOf } from "../../errors/index.ts";
import { type BytePath, nameOf } from "../../model/byte-path.ts";
import { AT, OPEN, close, openAt } from "../../platform/native/index.ts";
import { outcomeIn } from "./applied-record.ts";
import { writeTimes } from "./carried-times.ts";
import type { CarriedTime } from "./custody.ts";

const FOLDER = OPEN.readOnly | OPEN.directory | OPEN.noFollow;
const STAGE = /^tx-/;

/**
 * Tells the earlier commits in the same area which of their files have another change time now, because a later commit
 * took them out and was taken back. Where that fails nothing is lost: their undo then refuses these files, as it does
 * for everything that it cannot prove.
 */
export function carryTimes(stage: BytePath, moved: readonly CarriedTime[]): void {
  if (moved.length === 0) return;
  for (const other of otherStages(stage)) {
    try {
      carryInto(other, moved);
    } catch (error) {
      // Whoever cleans that sandbox up meanwhile needs none of it, and its damaged records are told by its own undo.
      if (errnoOf(error) === null && !(error instanceof RecordDamagedError)) throw error;
    }
  }
}

function carryInto(stage: BytePath, moved: readonly CarriedTime[]): void {
  const fd = openAt(AT.workingDirectory, stage, FOLDER);
  try {
    const known = new Set<string>();
    for (const { published, kept } of outcomeIn(fd) ?? []) {
      for (const [, record] of [...published, ...kept]) {
        if (record.type !== "directory") known.add(`${record.ino}:${record.ctimeNs}`);
      }
    }
    const own = moved.filter(({ ino, from }) => known.has(`${ino}:${from}`));
    if (own.length > 0) writeTimes(fd, own);
  } finally {
    close(fd);
  }
}

/** The stages of all sandboxes that lie beside the one of this stage, which is left out. */
function otherStages(stage: BytePath): BytePath[] {
  const sandbox = stage.slice(0, -nameOf(stage).length - 1) as BytePath;
  const all = sandbox.slice(0, -nameOf(sandbox).length - 1) as BytePath;
  return namesIn(all)
    .flatMap((name) => {
      const folder = `${all}/${name}` as BytePath;
      return namesIn(folder)
        .filter((inner) => STAGE.test(inner))
        .map((inner) => `${folder}/${inner}` as BytePath);
    })
    .filter((path) => path !== stage);
}

function namesIn(folder: BytePath): string[] {
  try {
    return readdirSync(Buffer.from(folder, "latin1"), { encoding: "latin1" });
  } catch {
    // A sandbox may go at any moment.
    return [];
  }
}
