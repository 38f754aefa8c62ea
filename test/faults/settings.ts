/** How much is disturbed and where the choice of points begins. */
export interface FaultSettings {
  readonly seed: number;
  /** Every point instead of a sample. */
  readonly all: boolean;
  /** Which part of the points, from one, of how many. */
  readonly shard: { readonly part: number; readonly of: number };
  /** The fault that is meant when not all are, in words. */
  readonly only: string | null;
  /** File to which results are appended; null for none. */
  readonly record: string | null;
}

/** The settings of this run; scripts/test-faults.mjs passes them on. */
export function faultSettings(): FaultSettings {
  const given = process.env["COFFERDAM_FAULTS"];
  const {
    seed,
    all = false,
    shard = "1/1",
    only = null,
    record = null,
  } = JSON.parse(given ?? "{}") as {
    readonly seed?: number;
    readonly all?: boolean;
    readonly shard?: string;
    readonly only?: string;
    readonly record?: string;
  };
  const [part = 1, of = 1] = shard.split("/").map(Number);
  return {
    seed: seed ?? Math.floor(Math.random() * 0x7fff_ffff),
    all,
    shard: { part, of },
    only,
    record,
  };
}

/** Numbers from zero up to one that are the same for the same seed. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
