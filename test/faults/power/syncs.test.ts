import { expect, test } from "vitest";
import type { DiskKind } from "../../support/loop.ts";
import type { NamedCall } from "../../support/tracer/call-name.ts";
import { type FaultSettings, createRandom, faultSettings } from "../settings.ts";
import { settleTally } from "../tally.ts";
import { shardOf } from "../trials.ts";
import { COVERED_ALONE, COVERED_IN, COVERED_KINDS, KNOWN_TO_MATTER } from "./covered-syncs.ts";
import { type PowerBench, withBench } from "./define-power.ts";
import { POWER_SHAPES } from "./power-shapes.ts";
import { harshest, kindOf, leaveOut, syncPointsOf } from "./sync-points.ts";

const HOURS = 3_600_000;
const KINDS: readonly DiskKind[] = ["ext4", "xfs", "btrfs"];

/** Syncs that are left out together. */
interface Omission {
  readonly label: string;
  readonly syncs: readonly NamedCall[];
}

/** What came of it. */
interface Verdict {
  readonly label: string;
  readonly fired: boolean;
  /** Where it was noticed; null when nowhere. */
  readonly noticed: string | null;
  /** Whether it is known what covers it. */
  readonly isKnown: boolean;
}

/** One by one, and all of a kind at once. */
const WAYS = {
  "one sync left out": (all) => all.map((sync) => ({ label: sync.name, syncs: [sync] })),
  "all syncs of a kind left out": (all) =>
    [...new Set(all.map(kindOf))].map((label) => {
      return { label, syncs: all.filter((sync) => kindOf(sync) === label) };
    }),
} as const satisfies Record<string, (all: readonly NamedCall[]) => Omission[]>;

for (const name of ["a commit of fresh edits", "an undo"] as const) {
  for (const [way, omissionsOf] of Object.entries(WAYS)) {
    test(
      `${name}, ${way}: it is noticed, or known what covers it (R222)`,
      async () => {
        const settings = faultSettings();
        const began = Date.now();
        const { all, verdicts, shape } = await tryAll(name, omissionsOf, settings);
        settleTally(
          {
            suite: "power",
            shape,
            faults: way,
            seed: settings.seed,
            enumerated: all,
            tried: verdicts.length,
            fired: verdicts.filter(({ fired }) => fired).length,
            old: verdicts.filter(({ noticed }) => noticed === null).length,
            new: verdicts.filter(({ noticed }) => noticed !== null).length,
            violations: verdicts
              .filter(({ noticed, isKnown }) => noticed === null && !isKnown)
              .map(({ label }) => label),
            seconds: Math.round((Date.now() - began) / 1000),
            remarks: verdicts.map(({ label, noticed }) => `${label}: ${noticed ?? "not noticed"}`),
          },
          settings,
        );
        expect(verdicts.length).toBeGreaterThan(0);
      },
      12 * HOURS,
    );
  }
}

async function tryAll(
  name: keyof typeof POWER_SHAPES,
  omissionsOf: (all: readonly NamedCall[]) => readonly Omission[],
  settings: FaultSettings,
): Promise<{ all: number; verdicts: readonly Verdict[]; shape: string }> {
  const makeShape = POWER_SHAPES[name];
  return withBench("ext4", makeShape, (ext4) =>
    withBench("xfs", makeShape, (xfs) =>
      withBench("btrfs", makeShape, async (btrfs) => {
        const all = omissionsOf(await syncPointsOf(ext4));
        const verdicts: Verdict[] = [];
        for (const omission of chosen(name, all, settings)) {
          const isKnown = isCovered(name, omission);
          verdicts.push(await verdictOn(omission, isKnown, { ext4, xfs, btrfs }));
        }
        return { all: all.length, verdicts, shape: ext4.shape.name };
      }),
    ),
  );
}

async function verdictOn(
  { label, syncs }: Omission,
  isKnown: boolean,
  benches: Record<DiskKind, PowerBench>,
): Promise<Verdict> {
  let fired = false;
  const [synced, ahead] = harshest(syncs);
  const tries = [
    ...KINDS.map((kind) => ({ kind, writing: synced })),
    { kind: "ext4" as const, writing: ahead },
  ];
  for (const { kind, writing } of tries) {
    const found = await leaveOut(benches[kind], syncs, writing);
    fired ||= found !== undefined;
    if (typeof found === "string") {
      process.stdout.write(`without ${label}, ${kind}, written is ${writing}: ${found}\n`);
      return { label, fired, isKnown, noticed: `noticed on ${kind}, written is ${writing}` };
    }
  }
  process.stdout.write(`without ${label}: not noticed\n`);
  return { label, fired, isKnown, noticed: null };
}

/** All of the shard; in a sample one that was noticed before. */
function chosen(
  name: string,
  all: readonly Omission[],
  settings: FaultSettings,
): readonly Omission[] {
  if (settings.all) return shardOf(all, settings);
  const needed = all.filter(({ label }) => KNOWN_TO_MATTER[name]?.includes(label));
  return needed.slice(Math.floor(createRandom(settings.seed)() * needed.length)).slice(0, 1);
}

function isCovered(name: string, { label, syncs }: Omission): boolean {
  const isKind = syncs.some((sync) => kindOf(sync) === label);
  if ([label, ...syncs.map(kindOf)].some((one) => Object.hasOwn(COVERED_IN[name] ?? {}, one)))
    return true;
  if (isKind) return Object.hasOwn(COVERED_KINDS, label);
  return [label, ...syncs.map(kindOf)].some((name) => Object.hasOwn(COVERED_ALONE, name));
}
