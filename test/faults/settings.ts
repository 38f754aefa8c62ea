/** The suites: what is done to operations. */
export type SuiteName = "crash" | "errno" | "power" | "race" | "soak";

/** How much is disturbed and where the choice of points begins. */
export interface FaultSettings {
  readonly seed: number;
  /** Every point instead of a sample. */
  readonly all: boolean;
  /** The suite that is meant when not all are. */
  readonly suite: SuiteName | null;
  /** Which part of the points, from one, of how many. */
  readonly shard: { readonly part: number; readonly of: number };
  /** What is meant when not everything is, in words: a fault, or a kind of file system. */
  readonly only: string | null;
  /** File to which results are appended; null for none. */
  readonly record: string | null;
}

/** The settings of this run; scripts/test-faults.mjs passes them on. */
export function faultSettings(): FaultSettings {
  const given = process.env["COFFERDAM_FAULTS"];
  const {
    seed,
    shard = "1/1",
    ...rest
  } = JSON.parse(given ?? "{}") as {
    readonly seed?: number;
    readonly shard?: string;
  } & Partial<Pick<FaultSettings, "all" | "suite" | "only" | "record">>;
  const [part = 1, of = 1] = shard.split("/").map(Number);
  return {
    all: false,
    suite: null,
    only: null,
    record: null,
    ...rest,
    seed: seed ?? Math.floor(Math.random() * 0x7fff_ffff),
    shard: { part, of },
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
