import type { FaultPoint } from "./faults.ts";

/** Whether this run takes everything instead of samples. */
export const isWholeRun = process.env["COFFERDAM_ALL_POINTS"] === "1";

const seed = Number(process.env["COFFERDAM_SEED"] ?? Math.floor(Math.random() * 0x7fffffff));

/**
 * At most so many of an operation's points: the first, the last, and between them one every few,
 * beginning where the seed of the run says, which is printed. All of them in a whole run.
 */
export function samplePoints(
  most: number,
): (points: readonly FaultPoint[]) => readonly FaultPoint[] {
  return (points) => {
    if (isWholeRun || points.length <= most) return points;
    const every = Math.ceil((points.length - 2) / (most - 2));
    const start = seed % every;
    process.stdout.write(
      `one of ${every} points, ${points.length} in all: COFFERDAM_SEED=${seed}\n`,
    );
    return points.filter(
      (_, at) => at === 0 || at === points.length - 1 || (at - 1) % every === start,
    );
  };
}

let isSeedTold = false;

/**
 * At most so many of any things, spread over all of them from where the seed of the run and a number of the caller say.
 * All of them in a whole run.
 */
export function sampleOf<T>(most: number, things: readonly T[], shift = 0): readonly T[] {
  if (isWholeRun || things.length <= most) return things;
  if (!isSeedTold) process.stdout.write(`samples are chosen by COFFERDAM_SEED=${seed}\n`);
  isSeedTold = true;
  const chosen = Array.from({ length: most }, (_, nth) => {
    const at = seed + shift + Math.floor((nth * things.length) / most);
    return at % things.length;
  });
  return things.filter((_, at) => chosen.includes(at));
}
