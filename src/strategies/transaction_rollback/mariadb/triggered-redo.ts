import { DriftError } from "../engine.ts";
import type { RowEffect } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { applyEffects } from "../sql/apply-effects.ts";
import { requireAfter } from "../sql/checked-rows.ts";
import type { RowStore } from "../sql/row-store.ts";
import { Catalog } from "./catalog.ts";
import { tablesBehind } from "./reach.ts";
import { type Row, readRows } from "./rows.ts";
import type { Session } from "./session.ts";
import type { Table } from "./tables.ts";
import { wholeChanges } from "./whole-changes.ts";

/**
 * Applies effects on tables with triggers, which nothing can switch off. What the triggers did is in the log; what they do
 * now in addition is taken back: every table that they can reach is brought to what it was, with the log on top.
 * @throws DriftError when a row does not end up as it was recorded.
 */
export async function redoBesideTriggers(
  session: Session,
  rows: RowStore<Table>,
  tables: ReadonlyMap<string, Table>,
  effects: readonly RowEffect[],
): Promise<void> {
  const triggered = [...tables.values()].filter(({ triggers }) => triggers.length > 0);
  const catalog = await Catalog.load(session, triggered[0]?.schema ?? "");
  const names = triggered.map(({ table }) => table);
  const behind = new Map(
    (await tablesBehind(session, catalog, names)).map((table) => [tablePath(table), table]),
  );
  const wanted = new Map<Table, readonly Row[]>();
  for (const [path, table] of behind) {
    const own = effects.filter((effect) => tablePath(effect) === path);
    wanted.set(table, withEffects(await readRows(session, table), own));
  }
  await applyEffects(leniently(rows, behind), tables, effects);
  await applyEffects(rows, behind, await deviations(session, wanted));
  await requireAfter(
    rows,
    tables,
    effects.filter((effect) => !behind.has(tablePath(effect))),
  );
  const left = await deviations(session, wanted);
  if (left.length > 0) throw new DriftError("Triggers changed other rows than before", []);
}

/** What fails in the way of a trigger is put right afterwards. */
function leniently(rows: RowStore<Table>, behind: ReadonlyMap<string, Table>): RowStore<Table> {
  return {
    ...rows,
    tryRun: async (run) => {
      const failure = await rows.tryRun(run);
      return behind.has(tablePath(run.table)) ? null : failure;
    },
  };
}

/** Rows with effects on top. */
function withEffects(rows: readonly Row[], effects: readonly RowEffect[]): readonly Row[] {
  const result = [...rows];
  for (const { before, after, keyAfter, rowAfter } of effects) {
    const at = before === null ? -1 : result.findIndex(({ image }) => image === before);
    if (at >= 0) result.splice(at, 1);
    if (after !== null) result.push({ key: keyAfter, image: after, row: rowAfter ?? "" });
  }
  return result;
}

/** What is between the tables as they are and as they should be. */
async function deviations(
  session: Session,
  wanted: ReadonlyMap<Table, readonly Row[]>,
): Promise<readonly RowEffect[]> {
  const effects: RowEffect[] = [];
  for (const [table, rows] of wanted)
    effects.push(...wholeChanges(table, await readRows(session, table), rows));
  return effects;
}
