import { afterAll, beforeAll, expect, test } from "vitest";
import type { Fault } from "../support/faults.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { disturb } from "./disturb.ts";
import { type FaultSettings, faultSettings } from "./settings.ts";
import type { Shape } from "./shape.ts";
import { settleTally } from "./tally.ts";
import { type Template, makeTemplate } from "./tree.ts";
import { describeFault, suiteOf } from "./trials.ts";

/** Everything that is done to an operation; the first as often as all others together. */
const FAULTS: readonly Fault[] = [
  { signal: "KILL" },
  { error: "EIO" },
  { error: "ENOSPC" },
  { error: "EACCES" },
  { error: "EROFS", lasting: true },
];
const SAMPLED: readonly Fault[] = [...FAULTS.slice(0, 1), ...FAULTS.slice(0, 1), ...FAULTS];
/** What is done to operations with children besides. */
const WITH_CHILDREN: readonly Fault[] = [
  { signal: "KILL", sparesChildren: true },
  { signal: "KILL", sparesProgram: true },
];
const HOURS = 3_600_000;

/** What is special about a sweep. */
export interface SweepOptions {
  /** How many points a sample takes at most; a tenth of them unless given. */
  readonly sampled?: number;
  /** Whether the operation starts programs, which may outlive it or die before it. */
  readonly hasChildren?: boolean;
}

/** Tests a shape: whatever disturbs it, it ends as if never begun or as if undisturbed, and is told so. */
export function defineSweep(
  title: string,
  makeShape: (template: Template) => Shape,
  { sampled, hasChildren = false }: SweepOptions = {},
): void {
  let template: Template;
  beforeAll(() => {
    template = makeTemplate();
  });
  afterAll(() => removeFolder(template.folder));
  test(
    title,
    async () => {
      const settings = faultSettings();
      const shape = makeShape(template);
      const more = hasChildren ? WITH_CHILDREN : [];
      const rounds = settings.all
        ? [...FAULTS, ...more].filter(isMeant(settings)).map((fault) => [fault])
        : [[...SAMPLED, ...more].filter(isMeant(settings))];
      const failures: unknown[] = [];
      for (const faults of rounds) {
        try {
          settleTally(await disturb(shape, faults, settings, sampled), settings);
        } catch (error) {
          // The other faults are tried all the same.
          failures.push(error);
        }
      }
      expect(failures).toEqual([]);
    },
    6 * HOURS,
  );
}

function isMeant({ only, suite }: FaultSettings): (fault: Fault) => boolean {
  return (fault) =>
    (only === null || describeFault(fault) === only) &&
    (suite === null || suiteOf(fault) === suite);
}
