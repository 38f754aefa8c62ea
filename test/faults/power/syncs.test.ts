import { expect, test } from "vitest";
import type { DiskKind } from "../../support/loop.ts";
import { type FaultSettings, createRandom, faultSettings } from "../settings.ts";
import { settleTally } from "../tally.ts";
import { shardOf } from "../trials.ts";
import { COVERED_SYNCS } from "./covered-syncs.ts";
import { type PowerBench, withBench } from "./define-power.ts";
import { POWER_SHAPES } from "./power-shapes.ts";
import { type SyncPoint, harshest, leaveOut, syncPointsOf } from "./sync-points.ts";

const HOURS = 3_600_000;
const KINDS: readonly DiskKind[] = ["ext4", "xfs", "btrfs"];

/** What came of leaving a sync out. */
interface Verdict {
  readonly label: string;
  readonly fired: boolean;
  /** Where it was noticed; null when nowhere. */
  readonly noticed: string | null;
}

for (const name of ["a commit of fresh edits", "an undo"] as const) {
  test(
    `${name}: a sync that is left out is noticed, or it is known which other one covers it (R222)`,
    async () => {
      const settings = faultSettings();
      const began = Date.now();
      const makeShape = POWER_SHAPES[name];
      const verdicts: Verdict[] = [];
      let enumerated = 0;
      const shape = await withBench("ext4", makeShape, async (ext4) => {
        const all = await syncPointsOf(ext4);
        enumerated = all.length;
        await withBench("xfs", makeShape, (xfs) =>
          withBench("btrfs", makeShape, async (btrfs) => {
            for (const sync of chosen(all, settings)) {
              verdicts.push(await verdictOn(sync, { ext4, xfs, btrfs }));
            }
          }),
        );
        return ext4.shape.name;
      });
      const isKnown = ({ label, noticed }: Verdict): boolean =>
        noticed !== null || Object.hasOwn(COVERED_SYNCS, label);
      settleTally(
        {
          suite: "power",
          shape,
          faults: "one sync left out",
          seed: settings.seed,
          enumerated,
          tried: verdicts.length,
          fired: verdicts.filter(({ fired }) => fired).length,
          old: verdicts.filter(({ noticed }) => noticed === null).length,
          new: verdicts.filter(({ noticed }) => noticed !== null).length,
          violations: verdicts.filter((verdict) => !isKnown(verdict)).map(({ label }) => label),
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

async function verdictOn(sync: SyncPoint, benches: Record<DiskKind, PowerBench>): Promise<Verdict> {
  const { label } = sync;
  let fired = false;
  const [first, second] = harshest(sync);
  const tries = [
    ...KINDS.map((kind) => [kind, first] as const),
    ...KINDS.map((kind) => [kind, second] as const),
  ];
  for (const [kind, writing] of tries) {
    if (writing === undefined) continue;
    const found = await leaveOut(benches[kind], sync, writing);
    fired ||= found !== undefined;
    if (typeof found === "string") {
      process.stdout.write(`without ${label}, ${kind}, written is ${writing}: ${found}\n`);
      return { label, fired, noticed: `noticed on ${kind}, written is ${writing}` };
    }
  }
  process.stdout.write(`without ${label}: not noticed\n`);
  return { label, fired, noticed: null };
}

/** All of the shard; in a sample one that must be noticed. */
function chosen(all: readonly SyncPoint[], settings: FaultSettings): readonly SyncPoint[] {
  if (settings.all) return shardOf(all, settings);
  const needed = all.filter(({ label }) => !Object.hasOwn(COVERED_SYNCS, label));
  return needed.slice(Math.floor(createRandom(settings.seed)() * needed.length)).slice(0, 1);
}
