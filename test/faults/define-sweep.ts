import { afterAll, beforeAll, expect, test } from "vitest";
import type { Fault } from "../support/faults.ts";
import { removeFolder } from "../support/remove-folder.ts";
import { disturb } from "./disturb.ts";
import { faultSettings } from "./settings.ts";
import type { Shape } from "./shape.ts";
import { describeTally, recordTally } from "./tally.ts";
import { type Template, makeTemplate } from "./tree.ts";
import { describeFault } from "./trials.ts";

/** Everything that is done to an operation; the first as often as all others together. */
const FAULTS: readonly Fault[] = [
  { signal: "KILL" },
  { error: "EIO" },
  { error: "ENOSPC" },
  { error: "EACCES" },
  { error: "EROFS", lasting: true },
];
const SAMPLED: readonly Fault[] = [...FAULTS.slice(0, 1), ...FAULTS.slice(0, 1), ...FAULTS];
const HOURS = 3_600_000;

/** Tests a shape: whatever disturbs it, it ends as if never begun or as if undisturbed, and is told so. */
export function defineSweep(title: string, makeShape: (template: Template) => Shape): void {
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
      const isMeant = (fault: Fault): boolean =>
        settings.only === null || describeFault(fault) === settings.only;
      const rounds = settings.all
        ? FAULTS.filter(isMeant).map((fault) => [fault])
        : [SAMPLED.filter(isMeant)];
      const violations: string[] = [];
      for (const faults of rounds) {
        const tally = await disturb(shape, faults, settings);
        process.stdout.write(`${describeTally(tally)}\n`);
        if (settings.record !== null) recordTally(tally, settings.record);
        violations.push(...tally.violations);
        expect(tally.fired).toBe(tally.tried);
      }
      expect(violations).toEqual([]);
    },
    6 * HOURS,
  );
}
