import { createRandom, faultSettings } from "../settings.ts";
import type { Ending } from "../shape.ts";
import { settleTally } from "../tally.ts";
import { shardOf } from "../trials.ts";

/** All of a list; in a sample the one that the seed chooses, so that every run takes another one. */
export function allOrOne<T>(list: readonly T[]): readonly T[] {
  const { all, seed } = faultSettings();
  return all ? list : list.slice(seed % list.length).slice(0, 1);
}

/** Something that is tried in many ways. */
export interface Trials<T> {
  /** For people. */
  readonly name: string;
  readonly ways: readonly T[];
  /** How many of the ways a sample takes. */
  readonly few: number;
}

/** Tries every way, or a few that the seed chooses, and fails when one of them ends wrongly. */
export async function tryEach<T>(
  { name, ways, few }: Trials<T>,
  attempt: (way: T) => Promise<Ending>,
): Promise<void> {
  const settings = faultSettings();
  const began = Date.now();
  const chosen = settings.all ? shardOf(ways, settings) : someOf(ways, few, settings.seed);
  const endings: Ending[] = [];
  const violations: string[] = [];
  for (const way of chosen) {
    try {
      endings.push(await attempt(way));
    } catch (error) {
      const why = error instanceof Error ? error.stack : String(error);
      violations.push(`${JSON.stringify(way)}: ${why}`.slice(0, 3000));
    }
  }
  const count = (wanted: Ending): number => endings.filter((ending) => ending === wanted).length;
  const tally = {
    suite: "race",
    shape: name,
    faults: "rounds",
    seed: settings.seed,
    enumerated: ways.length,
    tried: chosen.length,
    fired: chosen.length,
    old: count("old"),
    new: count("new"),
    violations,
    seconds: Math.round((Date.now() - began) / 1000),
    remarks: [`${count("old")} all old, ${count("new")} all new`],
  } as const;
  settleTally(tally, settings);
}

function someOf<T>(ways: readonly T[], few: number, seed: number): T[] {
  const random = createRandom(seed);
  const ranked = ways.map((way) => ({ way, rank: random() }));
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, few)
    .map(({ way }) => way);
}
