import { DriftError } from "../engine.ts";
import type { RowEffect } from "../log-entry.ts";
import { tablePath } from "../row-changes.ts";
import { applyEffects } from "../sql/apply-effects.ts";
import { changedTable, requireAfter } from "../sql/checked-rows.ts";
import type { RowStore } from "../sql/row-store.ts";
import { Catalog } from "./catalog.ts";
import { tablesBehind } from "./reach.ts";
import { type Row, readRows } from "./rows.ts";
import type { Session } from "./session.ts";
import type { Table } from "./tables.ts";
import { wholeChanges } from "./whole-changes.ts";

/** What one statement did. */
export type EffectGroup = readonly RowEffect[];

/**
 * Applies effects on tables with triggers, which nothing can switch off. What the triggers did is in the log; what they do
 * now in addition is taken back: every table that they can reach is brought to what it was, with the log on top.
 * @throws DriftError when a row does not end up as it was recorded.
 */
export async function redoBesideTriggers(
  session: Session,
  rows: RowStore<Table>,
  tables: ReadonlyMap<string, Table>,
  groups: readonly EffectGroup[],
): Promise<void> {
  const effects = groups.flat();
  const triggered = [...tables.values()].filter(({ triggers }) => triggers.length > 0);
  const catalog = await Catalog.load(session, triggered[0]?.schema ?? "");
  const names = triggered.map(({ table }) => table);
  const behind = new Map(
    (await tablesBehind(catalog, names)).map((table) => [tablePath(table), table]),
  );
  // Rows without a key cannot be looked up one by one.
  const bags = [...tables].filter(([, { key }]) => key.length === 0);
  const wanted = new Map<string, { table: Table; rows: readonly Row[] }>();
  for (const [path, table] of [...behind, ...bags]) {
    const own = effects.filter((effect) => tablePath(effect) === path);
    wanted.set(path, { table, rows: withEffects(path, await readRows(session, table), own) });
  }
  for (const group of groups) await applyEffects(leniently(rows, behind), tables, group);
  const noise = await deviations(session, wanted);
  requireNone(noise.filter((effect) => !isRepairable(behind.get(tablePath(effect)))));
  await applyEffects(rows, behind, noise);
  await requireAfter(
    rows,
    tables,
    effects.filter((effect) => !behind.has(tablePath(effect))),
  );
  requireNone(await deviations(session, wanted));
}

/** Putting rows right where there are triggers would set off more. */
function isRepairable(table: Table | undefined): boolean {
  return table !== undefined && table.triggers.length === 0;
}

function requireNone(effects: readonly RowEffect[]): void {
  if (effects.length === 0) return;
  const paths = [...new Set(effects.map(tablePath))];
  throw new DriftError("Triggers or cascades changed other rows", paths.map(changedTable));
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
function withEffects(
  path: string,
  rows: readonly Row[],
  effects: readonly RowEffect[],
): readonly Row[] {
  const result = [...rows];
  for (const { before, after, keyAfter, rowAfter } of effects) {
    const at = before === null ? -1 : result.findIndex(({ image }) => image === before);
    if (before !== null && at < 0)
      throw new DriftError("Rows were changed by somebody else", [changedTable(path)]);
    if (at >= 0) result.splice(at, 1);
    if (after !== null) result.push({ key: keyAfter, image: after, row: rowAfter ?? "" });
  }
  return result;
}

/** What is between the tables as they are and as they should be. */
async function deviations(
  session: Session,
  wanted: ReadonlyMap<string, { readonly table: Table; readonly rows: readonly Row[] }>,
): Promise<readonly RowEffect[]> {
  const effects: RowEffect[] = [];
  for (const { table, rows } of wanted.values())
    effects.push(...wholeChanges(table, await readRows(session, table), rows));
  return effects;
}
