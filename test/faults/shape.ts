import assert from "node:assert/strict";
import type { Cofferdam, SandboxRef } from "../../src/index.ts";
import type { Ground } from "./ground.ts";
import type { Operation, Told } from "./order.ts";

/** How a disturbed operation ended: as if it had never begun, or as if nothing had disturbed it. */
export type Ending = "old" | "new";

/** What a disturbed run left, opened again by another process. */
export interface Scene {
  readonly ground: Ground;
  readonly coffer: Cofferdam;
  /** What the program said; null when it was killed. */
  readonly told: Told | null;
  /** Whether only one call failed, so that nothing kept the program from taking its effect back. */
  readonly isBrief: boolean;
  /** The sandbox that the operation was about; null when it was to be made. */
  readonly ref: SandboxRef | null;
}

/** One operation in one situation. */
export interface Shape {
  /** For people: the operation and the way of running the sandbox. */
  readonly name: string;
  /** Makes a fresh ground with everything that is there before the operation. */
  readonly makeGround: () => Ground;
  /** Brings it to the moment before the operation. */
  readonly arrange: (ground: Ground) => Promise<Operation>;
  /** Compares what the program said with the disk before anybody opens the state again. */
  readonly judgeAtOnce?: (ground: Ground, told: Told) => void;
  /** Finds out how it ended and whether everything can go on from there; throws when it is wrong. */
  readonly judge: (scene: Scene) => Promise<Ending>;
}

/** What was said is true; only a disk that broke for good may keep an effect from being taken back. */
export function expectTold({ told, isBrief }: Scene, isThere: boolean): void {
  if (told?.outcome === "done") assert.ok(isThere);
  if (told?.outcome === "failed" && isBrief) assert.ok(!isThere);
}
