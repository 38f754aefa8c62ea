import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan, SandboxRef, StrategyCapabilities, StrategyClass } from "../../../src/index.ts";
import { DecidingLedger, UndoableLedger } from "../../fixtures/ledger/ledger-strategy.ts";
import type { Ledger, Rows } from "../../fixtures/ledger/ledger-file.ts";
import { type MarkerWord, markerName } from "../../fixtures/probe/marker.ts";
import { PROBES } from "../../fixtures/probe/probes.ts";
import { type Site, edit, openSite, plantData, privateFolder } from "../site.ts";

/** The rows of every ledger before and after its edit. */
export const OLD: Rows = { apples: "1" };
export const NEW: Rows = { apples: "5", plums: "3" };

/** A decider of another group, of which two can decide together. */
class QueueLedger extends DecidingLedger {
  override readonly capabilities = {
    isolation: "full",
    undoCommit: true,
    decides: { group: "queue", max: 2 },
  } as const;
}

/** A ledger of which only some sandboxes decide, as the resource says; the others can only undo. */
class ChoosyLedger extends DecidingLedger {
  capabilitiesOf({ resourceId }: SandboxRef): StrategyCapabilities {
    if (resourceId === "broken") throw new Error("no idea");
    const { decides, ...rest } = this.capabilities;
    return resourceId === "main" && decides !== undefined ? { ...rest, decides } : rest;
  }
}

const LEDGERS: Readonly<Record<string, StrategyClass>> = {
  deciding: DecidingLedger,
  queue: QueueLedger,
  choosy: ChoosyLedger,
  undoable: UndoableLedger,
};

/** A plan over ledgers and directories, all with edits. */
export interface LedgerSite {
  readonly site: Site;
  readonly plan: Plan;
  /** What stands in a ledger. */
  readonly rows: (id: string) => Rows;
  /** Changes a ledger as somebody else. */
  readonly disturb: (id: string, rows: Rows) => void;
  /** The content of the file that a directory's sandbox edited: `old` or `new`. */
  readonly file: (id: string) => string;
  /** Makes a ledger fail at a step, until the answer is called. */
  readonly mark: (id: string, step: string, ...words: MarkerWord[]) => () => void;
}

/** Makes a plan with one edited sandbox for each id, with the strategy that stands behind it. */
export async function openLedgerSite(
  strategies: Readonly<Record<string, string>>,
): Promise<LedgerSite> {
  const site = await openSite({ strategies: { ...PROBES, ...LEDGERS } });
  const place = (id: string): string => join(site.data, "..", `real-${id}`);
  const ledger = (id: string): string => join(place(id), "rows.json");
  const read = (id: string): Ledger => JSON.parse(readFileSync(ledger(id), "utf8")) as Ledger;
  const disturb = (id: string, rows: Rows): void => {
    writeFileSync(ledger(id), JSON.stringify({ ...read(id), rows }));
  };
  const resources = Object.entries(strategies).map(([id, sandboxStrategy]) => {
    mkdirSync(place(id));
    if (Object.hasOwn(LEDGERS, sandboxStrategy)) {
      writeFileSync(ledger(id), JSON.stringify({ rows: OLD, decisions: {} }));
      return { id, type: "fs-file", location: ledger(id), sandboxStrategy };
    }
    plantData(place(id));
    return { id, type: "fs-directory", location: place(id), sandboxStrategy };
  });
  const plan = await site.coffer.plan("plan", resources);
  for (const { id, type } of resources) {
    if (type === "fs-directory") await edit(plan.sandbox(id));
    else for (const [key, value] of Object.entries(NEW)) await plan.sandbox(id).write(key, value);
  }
  return {
    site,
    plan,
    disturb,
    rows: (id) => read(id).rows,
    file: (id) => readFileSync(join(place(id), "a"), "utf8").split(" ")[0] ?? "",
    mark: (id, step, ...words) => {
      const folder = privateFolder(plan.sandbox(id));
      const isLedger = Object.hasOwn(LEDGERS, strategies[id] ?? "");
      const file = join(folder, isLedger ? "" : "workspace", markerName(step));
      writeFileSync(file, words.join(" "));
      return () => rmSync(file);
    },
  };
}
